"""Arms that are vectors, with rewards that are linear in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from lotor.core.draws import to_uniform
from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float
from lotor.core.vectors import VectorLike, VectorsLike, largest_norm, to_vector, to_vectors
from lotor.core.wording import counted
from lotor.environments.base import expected_regrets, split_names
from lotor.environments.movielens_factors import movielens_factors
from lotor.environments.rating_files import FilePath

_CHUNK = 1024

# No normal quantile of a 52-bit uniform draw is further out (the outermost is 8.21).
_LARGEST_QUANTILE = 9.0


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class LinearArms:
    """Arm i pays <vectors[i], theta> plus noise; a mapping of vectors gives the arms names.

    - `noise_sd`: the noise is normal with this standard deviation;
    - `noise`: the noise of each round instead, so that a published run can be replayed;
    - `first`: the arm of the first round, which is drawn otherwise.

    `theta` is its owner's secret and stays out of the repr. In linear protocols the node that pulls
    draws the noise; `start` draws its own, for policies that do not use vectors.

    >>> arms = LinearArms([[1, 0], [0, 1]], theta=[0.75, 0.25], noise_sd=0)
    >>> arms
    <LinearArms: 2 arms in 2 dimensions>
    >>> arms.start(seed=7)(Decision(run="demo", round=1, arm=1, id="demo-1"))
    0.25
    """

    vectors: Floats
    theta: Floats
    noise_sd: float
    noise: Floats | None
    first: int | None
    names: tuple[str, ...] | None

    def __init__(
        self,
        vectors: Mapping[str, VectorLike] | VectorsLike,
        theta: VectorLike,
        *,
        noise_sd: float = 0.1,
        noise: VectorLike | None = None,
        first: int | None = None,
    ) -> None:
        names = None
        if isinstance(vectors, Mapping):
            rows, names = split_names("vectors", vectors, "a vector for each arm")
            vectors = cast("VectorsLike", rows)
        table = to_vectors("vectors", vectors)
        sd = to_float("noise_sd", noise_sd)
        if not 0 <= sd < 2.0**64:
            raise InputError(f"noise_sd is {noise_sd!r}: give a standard deviation from 0 up")
        if first is not None and (
            not isinstance(first, int | np.integer) or not 0 <= first < len(table)
        ):
            raise InputError(f"first is {first!r}: give an arm from 0 to {len(table) - 1}")
        object.__setattr__(self, "vectors", table)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "theta", to_vector("theta", theta, table.shape[1]))
        object.__setattr__(self, "noise_sd", sd)
        object.__setattr__(self, "noise", None if noise is None else to_vector("noise", noise))
        object.__setattr__(self, "first", None if first is None else int(first))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.k} arms in {counted(self.d, 'dimension')}>"

    @classmethod
    def movielens(
        cls,
        path: FilePath,
        *,
        k: int,
        user: int,
        d: int,
        noise_sd: float = 0.1,
        noise: VectorLike | None = None,
        first: int | None = None,
        sha256: str | None = None,
        cache: FilePath | Literal["user"] | None = "user",
    ) -> "LinearArms":
        """The first k movies of MovieLens 100K's `u.data` as arms and one user as theta.

        <arm, theta> approximates the user's rating of the movie: see `movielens_factors`, which
        also says what `cache` is.
        """
        factors = movielens_factors(path, d=d, sha256=sha256, cache=cache)
        vectors, theta = factors.first_items(k), factors.user(user)
        return LinearArms(vectors, theta, noise_sd=noise_sd, noise=noise, first=first)

    @property
    def k(self) -> int:
        return len(self.vectors)

    @property
    def d(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def eigenvalues(self) -> Floats | None:
        """The Laplacian's eigenvalues, if the arms form a graph."""
        return None

    @property
    def means(self) -> Floats:
        """What each arm pays without noise."""
        means: Floats = self.vectors @ self.theta
        return means

    @property
    def reward_range(self) -> tuple[float, float]:
        """Wide enough for every reward. It tells theta's length, so no protocol publishes it."""
        if self.noise is None:
            noise = _LARGEST_QUANTILE * self.noise_sd
        else:
            noise = float(np.abs(self.noise).max(initial=0.0))
        bound = float(np.sqrt(np.square(self.theta).sum())) * largest_norm(self.vectors) + noise
        bound = bound * (1 + 1e-9) or 1.0
        return (-bound, bound)

    def regrets(self, arms: Sequence[int]) -> Floats:
        """What a trajectory missed in each round, in expectation."""
        return expected_regrets(self.means, arms)

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run; the noise of a round depends on the seed and the round alone."""
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
        means: Sequence[float] = self.means.tolist()
        noise = self._seeded(seed) if self.noise is None else self._given(self.noise)
        k = self.k

        def pull(decision: Decision) -> float:
            if 0 <= decision.arm < k:
                return means[decision.arm] + noise(decision.round)
            raise InputError(
                f"decision {decision.id} names arm {decision.arm}, but there are only arms 0 to "
                f"{k - 1}: give the environment as many arms as the run has"
            )

        return pull

    def _given(self, noise: Floats) -> Callable[[int], float]:
        def at(t: int) -> float:
            if 1 <= t <= len(noise):
                return float(noise[t - 1])
            raise InputError(f"noise was given for {len(noise)} rounds only, and this is round {t}")

        return at

    def _seeded(self, seed: int) -> Callable[[int], float]:
        if self.noise_sd == 0:
            return lambda _: 0.0
        chunks: dict[int, list[float]] = {}

        def at(t: int) -> float:
            number, place = divmod(t, _CHUNK)
            if number not in chunks:
                chunks.clear()
                chunks[number] = (self.noise_sd * normal_draws(_CHUNK, seed, number)).tolist()
            return chunks[number][place]

        return at


def normal_draws(count: int, seed: int, *place: int) -> Floats:
    """Standard normal draws that are the same in every version of numpy."""
    from scipy.special import ndtri  # noqa: PLC0415

    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place))
    draws: Floats = ndtri(to_uniform(bits.random_raw(count)))
    return draws

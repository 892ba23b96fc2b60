"""Arms whose contexts change with the round, with rewards that are linear in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np

from lotor.core.draws import to_uniform
from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float
from lotor.core.vectors import VectorLike, to_table, to_vector
from lotor.core.wording import counted
from lotor.environments.base import expected_regrets
from lotor.environments.linear import normal_draws

ContextsLike: TypeAlias = Sequence[Sequence[Sequence[float]]] | Floats

TOY_LENGTH = 5.5
"""The paper's L: by default no context of `LinearContexts.random` is longer."""

_CHUNK = 1024
# No normal quantile of a 52-bit uniform draw is further out (the outermost is 8.21).
_LARGEST_QUANTILE = 9.0
# Each stream of random draws has a place of its own.
_POOL, _OFFERS, _THETA, _NOISE = range(4)


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class LinearContexts:
    """In round t arm a has the context `contexts[t - 1, a]` and pays <context, theta> plus noise.

    The noise is normal with the standard deviation `noise_sd`; it depends on the seed of the run
    and the round alone, so that different policies can be compared. A run takes the rounds in their
    order, so it cannot be longer than the table. `theta` is in no repr.

    >>> arms = LinearContexts([[[1, 0], [0, 1]], [[1, 1], [0, 2]]], theta=[0.75, 0.25], noise_sd=0)
    >>> arms
    <LinearContexts: 2 arms, 2 rounds, contexts of 2 numbers>
    >>> arms.start(seed=7)(Decision(run="demo", round=2, arm=1, id="demo/2"))
    0.5
    >>> arms.regret([1, 0])
    0.5
    """

    contexts: Floats
    theta: Floats
    noise_sd: float

    def __init__(self, contexts: ContextsLike, theta: VectorLike, *, noise_sd: float = 0.5) -> None:
        table = _to_contexts(contexts)
        sd = to_float("noise_sd", noise_sd)
        if not 0 <= sd < 2.0**64:
            raise InputError(f"noise_sd is {noise_sd!r}: give a standard deviation from 0 up")
        object.__setattr__(self, "contexts", table)
        object.__setattr__(self, "theta", to_vector("theta", theta, table.shape[2]))
        object.__setattr__(self, "noise_sd", sd)

    def __repr__(self) -> str:
        return (
            f"<LinearContexts: {counted(self.k, 'arm')}, {counted(self.rounds, 'round')}, "
            f"contexts of {counted(self.d, 'number')}>"
        )

    @classmethod
    def toy(cls, rounds: int = 130, *, seed: int = 0) -> "LinearContexts":
        """The toy problem of Garcelon, Perchet and Pirotta (2022, Section 6), one for each seed.

        "4 contexts in dimension 2 and 2 arms", uniform, noise 0.5, L 5.5. The paper does not say
        how they are drawn: here each round offers two different ones of the four. See `random`.
        """
        return cls.random(rounds, arms=2, d=2, pool=4, seed=seed)

    @classmethod
    def random(
        cls,
        rounds: int,
        *,
        arms: int,
        d: int,
        seed: int,
        pool: int | None = None,
        length: float = TOY_LENGTH,
        noise_sd: float = 0.5,
    ) -> "LinearContexts":
        """Contexts uniform in a cube, no longer than `length`, and a random theta.

        With a `pool`, there are only that many contexts, and each round offers several different
        ones of them; without, all contexts are fresh. theta is scaled so that the largest possible
        mean is 1, or less if theta would be longer than 1. A longer table with the same seed begins
        with the same rounds.
        """
        for name, number, least in (("rounds", rounds, 1), ("arms", arms, 1), ("d", d, 1)):
            _whole(name, number, least)
        half = to_float("length", length) / sqrt(d)
        if pool is None:
            contexts = half * (2 * _uniform((rounds, arms, d), seed, _POOL) - 1)
        else:
            _whole("pool", pool, arms)
            vectors = half * (2 * _uniform((pool, d), seed, _POOL) - 1)
            ranks = np.argsort(_uniform((rounds, pool), seed, _OFFERS), axis=1, kind="stable")
            contexts = vectors[ranks[:, :arms]]
        direction = normal_draws(d, seed, _THETA)
        extent = half * np.abs(direction).sum() if pool is None else np.abs(vectors @ direction)
        norm = sqrt(np.square(direction).sum())
        return cls(contexts, direction / max(norm, float(np.max(extent))), noise_sd=noise_sd)

    @property
    def k(self) -> int:
        return int(self.contexts.shape[1])

    @property
    def d(self) -> int:
        """How many numbers a context has."""
        return int(self.contexts.shape[2])

    @property
    def rounds(self) -> int:
        """How long a run can be."""
        return len(self.contexts)

    @property
    def means(self) -> Floats:
        """What each arm pays in each round without noise."""
        means: Floats = self.contexts @ self.theta
        return means

    @property
    def reward_range(self) -> tuple[float, float]:
        """Wide enough for every reward."""
        bound = float(np.abs(self.means).max()) + _LARGEST_QUANTILE * self.noise_sd
        bound = bound * (1 + 1e-9) or 1.0
        return (-bound, bound)

    def contexts_at(self, t: int) -> Floats:
        """The contexts of round t, from 1: a row for each arm."""
        if not 1 <= t <= len(self.contexts):
            raise self._beyond(t)
        rows: Floats = self.contexts[t - 1]
        return rows

    def context(self, t: int) -> Floats:
        """The contexts of round t one after the other, as one row of numbers."""
        return self.contexts_at(t).ravel()

    def regret(self, arms: Sequence[int]) -> float:
        """The expected regret of a trajectory: equation (1) of the paper."""
        return float(self.regrets(arms).sum())

    def regrets(self, arms: Sequence[int]) -> Floats:
        """The expected regret of each round."""
        return expected_regrets(self.means, arms)

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run; two runs with one seed have the same noise."""
        _whole("seed", seed, 0)
        means, k, rounds = self.means, self.k, self.rounds
        noise = self._noise(seed)

        def pull(decision: Decision) -> float:
            t, arm = decision.round, decision.arm
            if not 1 <= t <= rounds:
                raise self._beyond(t)
            if 0 <= arm < k:
                return means.item(t - 1, arm) + noise(t)
            raise InputError(
                f"decision {decision.id} names arm {arm}, but there are only arms 0 to {k - 1}: "
                "give the environment as many arms as the run has"
            )

        return pull

    def _noise(self, seed: int) -> Callable[[int], float]:
        if self.noise_sd == 0:
            return lambda _: 0.0
        chunks: dict[int, Floats] = {}

        def at(t: int) -> float:
            number, place = divmod(t, _CHUNK)
            if number not in chunks:
                chunks.clear()
                chunks[number] = self.noise_sd * normal_draws(_CHUNK, seed, _NOISE, number)
            return chunks[number].item(place)

        return at

    def _beyond(self, t: int) -> InputError:
        return InputError(
            f"there are contexts for rounds 1 to {self.rounds}, not for round {t}: give more "
            "contexts or a smaller budget"
        )


def _to_contexts(values: ContextsLike) -> Floats:
    """A table of rounds, arms and numbers that nobody can change."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths
        array = np.empty(0)
    if array.ndim != 3 or array.size == 0:
        raise InputError(
            "contexts has a list of contexts for each round, one for each arm, all of one length: "
            "give numbers of the shape (rounds, arms, d), at least one of each"
        )
    # The numbers are checked as those of one long table.
    return to_table("contexts", array.reshape(-1, array.shape[2])).reshape(array.shape)


def _uniform(shape: tuple[int, ...], seed: int, place: int) -> Floats:
    """Draws from (0, 1) that are the same in every version of numpy."""
    _whole("seed", seed, 0)
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(place,)))
    return to_uniform(bits.random_raw(int(np.prod(shape)))).reshape(shape)


def _whole(name: str, number: object, least: int) -> None:
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < least:
        raise InputError(f"{name} is {number!r}: give a whole number from {least} up")

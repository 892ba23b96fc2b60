"""Arms whose rewards depend on a context that is known before each choice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lotor.core.draws import to_uniform
from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.core.vectors import UNIT_LENGTH, VectorsLike, largest_norm, to_table
from lotor.core.wording import counted
from lotor.environments.base import expected_regrets
from lotor.environments.contextual_classes import classes, one_hot
from lotor.environments.digits import read_digits
from lotor.environments.kmeans import kernel, kmeans
from lotor.environments.mnist import read_mnist
from lotor.environments.principal import unit_components
from lotor.environments.rating_files import FilePath

COMPONENTS = 20
"""Into how many numbers an image is turned."""

_CHUNK = 256


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class ContextualArms:
    """Round t shows the context `contexts[t - 1]`, and arm a then pays `rewards[t - 1, a]`.

    No context may be longer than 1. Rewards lie in `reward_range`. A run takes the rounds in their
    order, so it cannot be longer than the table. `bernoulli` makes arms whose rewards are drawn.

    >>> arms = ContextualArms([[1, 0], [0, 1]], rewards=[[1, 0], [0.25, 0.75]])
    >>> arms
    <ContextualArms: 2 arms, 2 rounds, contexts of 2 numbers>
    >>> arms.context(2).tolist()
    [0.0, 1.0]
    >>> arms.start(seed=7)(Decision(run="demo", round=2, arm=1, id="demo/2"))
    0.75
    """

    contexts: Floats
    rewards: Floats
    reward_range: tuple[float, float]
    drawn: bool

    def __init__(
        self,
        contexts: VectorsLike,
        rewards: VectorsLike,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        x, paid = to_table("contexts", contexts), to_table("rewards", rewards)
        if len(x) != len(paid):
            raise InputError(
                f"there are {len(x)} contexts but {len(paid)} rows of rewards: give a row of "
                "rewards, one for each arm, for each context"
            )
        longest = largest_norm(x)
        if longest > UNIT_LENGTH:
            raise InputError(
                f"the longest context has length {longest:g}, more than 1: divide all contexts by "
                "that length (or each by its own)"
            )
        scale = RewardScale.of(reward_range)
        if not np.all((paid >= scale.low) & (paid <= scale.high)):
            raise InputError(
                f"a reward lies outside the public reward_range ({scale.low:g}, {scale.high:g}): "
                "widen the range or correct the rewards"
            )
        object.__setattr__(self, "contexts", x)
        object.__setattr__(self, "rewards", paid)
        object.__setattr__(self, "reward_range", (scale.low, scale.high))
        object.__setattr__(self, "drawn", False)

    def __repr__(self) -> str:
        return (
            f"<ContextualArms: {counted(self.k, 'arm')}, {counted(self.rounds, 'round')}, "
            f"contexts of {counted(self.d, 'number')}>"
        )

    @classmethod
    def bernoulli(cls, contexts: VectorsLike, probabilities: VectorsLike) -> "ContextualArms":
        """In round t arm a pays 1 with probability `probabilities[t - 1, a]`, else 0.

        What it pays depends on the seed of the run, the round and the arm alone.
        """
        arms = cls(contexts, probabilities)
        object.__setattr__(arms, "drawn", True)
        return arms

    @classmethod
    def kmeans(
        cls, contexts: VectorsLike, k: int, *, seed: int, sigma: float = 0.5
    ) -> "ContextualArms":
        """Arms for given contexts: each arm is a cluster of them and pays more the nearer it is.

        As in section 5 of Hannun et al. (2019), arm a pays 1 with probability
        exp(-|c_a - x|^2 / (2 sigma^2)), where c_a is the centre of its cluster. The paper says
        "proportional to"; its published program takes the factor 1, and so does this.
        """
        x = to_table("contexts", contexts)
        return cls.bernoulli(x, kernel(x, kmeans(x, k, seed=seed), sigma))

    @classmethod
    def digits(cls, *, shuffle_seed: int = 0) -> "ContextualArms":
        """scikit-learn's 1,797 digits: an arm for each digit, and the right one pays 1.

        The contexts are 20 principal components scaled to length 1, as in Hannun et al. (2019);
        `shuffle_seed` decides their order. Needs `pip install 'lotor[data]'`.
        """
        images, labels = read_digits(shuffle_seed)
        return cls(unit_components(images, COMPONENTS), one_hot(labels, 10))

    @classmethod
    def mnist(
        cls,
        folder: FilePath,
        *,
        images: Literal["train", "test"] = "train",
        limit: int | None = None,
        sha256: tuple[str, str] | None = None,
    ) -> "ContextualArms":
        """MNIST from the gzipped files in a folder of yours: otherwise like `digits`.

        `limit` keeps only the first images, with the principal components of all of them. Give
        `sha256`, the digests of the unpacked images and labels, if your files are not the published
        ones. The first load writes the digests and the data's terms to stderr.
        """
        pixels, labels = read_mnist(folder, images, sha256)
        rounds = len(labels) if limit is None else limit
        if not isinstance(rounds, int | np.integer) or not 1 <= rounds <= len(labels):
            raise InputError(f"limit is {limit!r}: give a number of images from 1 to {len(labels)}")
        x = unit_components(pixels, COMPONENTS)
        return cls(x[:rounds], one_hot(labels[:rounds], 10))

    @classmethod
    def lookalike(cls, rounds: int, arms: int, d: int, seed: int) -> "ContextualArms":
        """Made-up contexts that resemble the digits': `arms` classes, and the right one pays 1."""
        contexts, labels = classes(rounds, arms, d, seed)
        return cls(contexts, one_hot(labels, arms))

    @property
    def k(self) -> int:
        return int(self.rewards.shape[1])

    @property
    def d(self) -> int:
        """How many numbers a context has."""
        return int(self.contexts.shape[1])

    @property
    def rounds(self) -> int:
        """How long a run can be."""
        return len(self.contexts)

    def context(self, t: int) -> Floats:
        """The context of round t, from 1."""
        if not 1 <= t <= len(self.contexts):
            raise self._beyond(t)
        row: Floats = self.contexts[t - 1]
        return row

    def regrets(self, arms: Sequence[int]) -> Floats:
        """What a trajectory missed in each round, in expectation."""
        return expected_regrets(self.rewards, arms)

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run; two runs with one seed pay the same."""
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
        k, rounds = self.k, self.rounds
        paid = self._drawn(seed) if self.drawn else self._given

        def pull(decision: Decision) -> float:
            t, arm = decision.round, decision.arm
            if not 1 <= t <= rounds:
                raise self._beyond(t)
            if 0 <= arm < k:
                return paid(t - 1, arm)
            raise InputError(
                f"decision {decision.id} names arm {arm}, but there are only arms 0 to {k - 1}: "
                "give the environment as many arms as the run has"
            )

        return pull

    def _given(self, row: int, arm: int) -> float:
        return self.rewards.item(row, arm)

    def _drawn(self, seed: int) -> Callable[[int, int], float]:
        chunks: dict[int, Floats] = {}

        def paid(row: int, arm: int) -> float:
            number, place = divmod(row, _CHUNK)
            if number not in chunks:
                chunks.clear()
                bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(number,)))
                chunks[number] = to_uniform(bits.random_raw(_CHUNK * self.k))
            return float(chunks[number].item(place * self.k + arm) < self.rewards.item(row, arm))

        return paid

    def _beyond(self, t: int) -> InputError:
        return InputError(
            f"there are contexts for rounds 1 to {self.rounds}, not for round {t}: give more "
            "contexts or a smaller budget"
        )

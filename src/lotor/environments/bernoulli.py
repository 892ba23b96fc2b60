"""Arms that pay 1 with a fixed probability and 0 otherwise."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments.base import expected_regrets, split_names

_CHUNK = 1024


@dataclass(frozen=True, slots=True, init=False)
class BernoulliArms:
    """Arm i pays 1 with probability `means[i]`, else 0; a mapping gives the arms names.

    Every arm has a reward stream of its own: what its j-th pull pays depends on the seed, the arm
    and j, never on when the other arms are pulled.

    >>> arms = BernoulliArms([0.9, 0.5, 0.0])
    >>> pull = arms.start(seed=7)
    >>> pull(Decision(run="demo", round=1, arm=2, id="demo-1"))
    0.0
    >>> BernoulliArms({"drug A": 0.4, "drug B": 0.6}).names
    ('drug A', 'drug B')
    """

    means: tuple[float, ...]
    names: tuple[str, ...] | None

    def __init__(self, means: Mapping[str, float] | Sequence[float]) -> None:
        given, names = split_names("the means", means, "a list with the mean reward of each arm")
        checked = tuple(_checked_mean(arm, mean) for arm, mean in enumerate(given))
        if not checked:
            raise InputError("no arms: give the mean reward of at least one arm")
        object.__setattr__(self, "means", checked)
        object.__setattr__(self, "names", names)

    @property
    def k(self) -> int:
        return len(self.means)

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def regrets(self, arms: Sequence[int]) -> Floats:
        """What a trajectory missed in each round, in expectation."""
        return expected_regrets(np.array(self.means), arms)

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run; two runs with one seed pay the same."""
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
        k = self.k
        # A chain hands out a chunk's rewards in C; a chunk is drawn at an arm's first pull of it.
        streams = [
            chain.from_iterable(_chunks(seed, arm, mean)).__next__
            for arm, mean in enumerate(self.means)
        ]

        def pull(decision: Decision) -> float:
            arm = decision.arm
            if 0 <= arm < k:
                return streams[arm]()
            raise InputError(
                f"decision {decision.id} names arm {arm}, but there are only arms 0 to {k - 1}: "
                "give the environment as many arms as the run has"
            )

        return pull


def _checked_mean(arm: int, mean: float) -> float:
    # nan fails the comparison too.
    if not isinstance(mean, int | float | np.integer | np.floating) or not 0 <= mean <= 1:
        raise InputError(
            f"arm {arm} has mean {mean!r}, which is not a probability: give a number from 0 to 1"
        )
    return float(mean)


def _chunks(seed: int, arm: int, mean: float) -> Iterator[list[float]]:
    # The bit generator is named because numpy may change its default one.
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(arm,)))
    generator = np.random.Generator(bits)
    while True:
        yield (generator.random(_CHUNK) < mean).astype(np.float64).tolist()

"""Bernoulli arms whose means change at certain rounds."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import to_items
from lotor.environments.base import expected_regrets
from lotor.environments.bernoulli import BernoulliArms

_CHUNK = 1024


@dataclass(frozen=True, slots=True, init=False)
class ChangingArms:
    """Arm i pays 1 with probability `means_at(t)[i]` in round t, else 0.

    Mappings give the arms names, the same in all phases.

    A phase is the round that it begins with and the means of all arms from then on; the first one
    begins with round 1. What an arm pays depends on the seed, the arm and the round, never on what
    was pulled before.

    >>> arms = ChangingArms([(1, [0.9, 0.1]), (500, [0.1, 0.9])])
    >>> arms.means_at(499), arms.means_at(500)
    ((0.9, 0.1), (0.1, 0.9))
    """

    phases: tuple[tuple[int, tuple[float, ...]], ...]
    names: tuple[str, ...] | None

    def __init__(self, phases: Iterable[tuple[int, Mapping[str, float] | Sequence[float]]]) -> None:
        given = to_items("the phases", phases, "a list of pairs (first round, means)")
        pairs = [_checked_phase(number, phase) for number, phase in enumerate(given, 1)]
        names = pairs[0][1].names if pairs else None
        checked = tuple((start, _means_of(arms, names)) for start, arms in pairs)
        starts = [start for start, _ in checked]
        if not starts or starts[0] != 1 or starts != sorted(set(starts)):
            raise InputError(
                f"the phases begin with the rounds {starts}: let the first begin with round 1 and "
                "each of the others after the one before it"
            )
        counts = sorted({len(means) for _, means in checked})
        if len(counts) > 1:
            raise InputError(
                f"one phase has {counts[0]} arms and another has {counts[-1]}: give each phase the "
                "mean of every arm"
            )
        object.__setattr__(self, "phases", checked)
        object.__setattr__(self, "names", names)

    @property
    def k(self) -> int:
        return len(self.phases[0][1])

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def means_at(self, t: int) -> tuple[float, ...]:
        """The mean of each arm in round t."""
        if t < 1:
            raise InputError(f"there is no round {t}: rounds begin with 1")
        return self.phases[bisect_right(self.phases, t, key=lambda phase: phase[0]) - 1][1]

    def regrets(self, arms: Sequence[int]) -> Floats:
        """What a trajectory missed in each round, in expectation."""
        rows = np.array([self.means_at(t) for t in range(1, len(arms) + 1)])
        return expected_regrets(rows.reshape(len(arms), self.k), arms)

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run; two runs with one seed pay the same."""
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
        k = self.k
        kept: dict[int, tuple[int, list[float]]] = {}

        def pull(decision: Decision) -> float:
            arm, t = decision.arm, decision.round
            if not 0 <= arm < k:
                raise InputError(
                    f"decision {decision.id} names arm {arm}, but there are only arms 0 to "
                    f"{k - 1}: give the environment as many arms as the run has"
                )
            mean = self.means_at(t)[arm]
            chunk, place = divmod(t, _CHUNK)
            if kept.get(arm, (None, []))[0] != chunk:
                kept[arm] = chunk, _uniforms(seed, arm, chunk)
            return float(kept[arm][1][place] < mean)

        return pull


def _uniforms(seed: int, arm: int, chunk: int) -> list[float]:
    # The bit generator is named because numpy may change its default one.
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(arm, chunk)))
    drawn: list[float] = np.random.Generator(bits).random(_CHUNK).tolist()
    return drawn


def _checked_phase(number: int, phase: object) -> tuple[int, BernoulliArms]:
    if not isinstance(phase, Sequence) or isinstance(phase, str | bytes) or len(phase) != 2:
        raise InputError(
            f"phase {number} is {phase!r}: give a pair of its first round and the means of all arms"
        )
    start, means = phase
    if not isinstance(start, int | np.integer) or isinstance(start, bool):
        raise InputError(f"phase {number} begins with {start!r}: give a round as a whole number")
    return int(start), BernoulliArms(means)


def _means_of(arms: BernoulliArms, names: tuple[str, ...] | None) -> tuple[float, ...]:
    """The means of a phase, in the order of the names."""
    if set(arms.names or ()) != set(names or ()):
        raise InputError(
            f"one phase has the arms {_listed(names)} and another {_listed(arms.names)}: name the "
            "same arms in each phase, or none"
        )
    if names is None or arms.names is None:
        return arms.means
    means = dict(zip(arms.names, arms.means, strict=True))
    return tuple(means[name] for name in names)


def _listed(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else ", ".join(names)

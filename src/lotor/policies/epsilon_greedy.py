"""Epsilon-greedy, fixed and decreasing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log2
from typing import ClassVar

from lotor.core.draws import Draws
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import Floats, to_float
from lotor.policies.base import ArmStates, Policy

SCHEDULES: dict[str, Callable[[int], float]] = {
    "1/ln": lambda t: 1.0 / log(t),
    "1/log2": lambda t: 1.0 / log2(t),
}


@dataclass(frozen=True, slots=True)
class EpsilonGreedy(Policy):
    """Explore with probability epsilon, else take the best mean (Sutton and Barto, section 2.2).

    `epsilon` is a number, `"1/ln"` or `"1/log2"` (decreasing with t), or a function of t.
    The coin is common to all owners. When it says explore, each score is a private uniform draw,
    so that an exploring round has the same messages as any other. Parties compare a function by
    its name alone, so give it a name of its own. `grid` is what appendix C of SAMBA tries.

    >>> EpsilonGreedy("1/log2").probability(1024)
    0.1
    >>> EpsilonGreedy(lambda t: 10 / t).probability(100)
    0.1
    """

    grid: ClassVar[Mapping[str, Sequence[float]]] = {"epsilon": tuple(i / 10 for i in range(11))}

    epsilon: float | str | Callable[[int], float] = 0.1

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, str):
            if self.epsilon not in SCHEDULES:
                raise InputError(
                    f"no schedule is called {self.epsilon!r}: use a number, a function of t, "
                    f"or one of {', '.join(SCHEDULES)}"
                )
        elif not callable(self.epsilon):
            object.__setattr__(self, "epsilon", to_float("epsilon", self.epsilon))
            if not 0.0 <= self.epsilon <= 1.0:
                raise InputError(
                    f"epsilon is a probability: give a number from 0 to 1, not {self.epsilon}"
                )

    def probability(self, t: int) -> float:
        """The probability of exploring in round t."""
        if isinstance(self.epsilon, str):
            return SCHEDULES[self.epsilon](t)
        return to_float("epsilon", self.epsilon(t)) if callable(self.epsilon) else self.epsilon

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        epsilon = self.probability(t)
        if not epsilon >= 0.0:
            raise PolicyError(
                f"epsilon in round {t} is {epsilon}: let the schedule give numbers from 0 up"
            )
        return draw.uniform() if draw.coin() <= epsilon else arms.mean

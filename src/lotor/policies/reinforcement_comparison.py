"""Reinforcement comparison."""

from dataclasses import dataclass

import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, SCORE_LIMIT, Floats, to_float
from lotor.policies.base import ArmStates, Policy
from lotor.policies.matching import ABOVE_LOWEST_GUMBEL


@dataclass(frozen=True, slots=True)
class ReinforcementComparison(Policy):
    """Compare each reward with a running reference of all rewards (Sutton and Barto, 1998).

    Arm i is pulled with probability proportional to exp(preference_i). The reference mixes the
    rewards of all arms, so no owner could compute its score alone: this policy runs in plain
    only, and `Samba` refuses it.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> policy = lotor.ReinforcementComparison(alpha=0.1, beta=0.5)
    >>> lotor.run(policy, arms, budget=200, seed=1).arms.count(0) > 120
    True
    """

    alpha: float = 0.1
    beta: float = 0.1

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, to_float(name, getattr(self, name)))
            if not 0.0 < getattr(self, name) <= 1.0:
                raise InputError(
                    f"{name} is a learning rate: give a number in (0, 1], not {getattr(self, name)}"
                )

    def start(self, arms: ArmStates) -> None:
        # Preferences move by less than 1 a pull: half of the score range lies on each side.
        arms.own["preference"] = np.full(len(arms), SCORE_LIMIT / 2)
        arms.own["reference"] = np.zeros(1)

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.own["preference"] + draw.gumbel() + ABOVE_LOWEST_GUMBEL

    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward)
        reference = arms.own["reference"]
        surprise = reward / REWARD_ONE - reference[0]
        arms.own["preference"][i] += self.beta * surprise
        reference += self.alpha * surprise

"""Discounted UCB, for arms that change."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, Floats, to_float
from lotor.policies.base import ArmStates, Policy
from lotor.policies.forgetting import FORGOTTEN, checked_width

# Far below what any arm weighs that still has a score below FORGOTTEN.
_LEAST_WEIGHT = 2.0**-64


@dataclass(frozen=True, slots=True)
class DiscountedUCB(Policy):
    """UCB that lets rewards fade (Kocsis and Szepesvári, 2006; Garivier and Moulines, 2011).

    A pull of s rounds ago weighs gamma^s. With the weight N of an arm's pulls and the weight n of
    all pulls, the score is the weighted mean + 2 sqrt(xi ln n / N).

    - `gamma`: how much is left of a weight after one round. For T rounds the authors take
      1 - 1/(4 sqrt T), so the default is for 10,000 rounds;
    - `xi`: how wide the bound is; the theorem needs more than 1/2, the authors' experiments have
      just that.

    Every round pulls one arm, so n = 1 + gamma + gamma^2 + … follows from t, and an arm's weight
    fades by itself: an owner computes its score alone, and SAMBA runs this policy.

    >>> import lotor
    >>> arms = lotor.ChangingArms([(1, [0.9, 0.1]), (300, [0.1, 0.9])])
    >>> run = lotor.run(lotor.DiscountedUCB(gamma=0.95), arms, budget=600, seed=1)
    >>> run.arms[300:].count(1) > 200
    True
    """

    gamma: float = 0.9975
    xi: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", to_float("gamma", self.gamma))
        object.__setattr__(self, "xi", checked_width(self.xi))
        if not 0.0 < self.gamma < 1.0:
            raise InputError(
                f"gamma is {self.gamma}, the weight that is left after one round: give a number "
                "between 0 and 1, such as 0.99"
            )

    def start(self, arms: ArmStates) -> None:
        for name in ("weight", "paid", "last"):
            arms.own[name] = np.zeros(len(arms))

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        weight = arms.own["weight"]
        # Paid and weight fade alike, so their ratio stays as it was when the arm was pulled last.
        mean = arms.own["paid"] / weight
        left = weight * np.power(self.gamma, t - 1.0 - arms.own["last"])
        width = 2.0 * sqrt(self.xi * log(self._all_pulls(t - 1)))
        return mean + np.minimum(width / np.sqrt(np.maximum(left, _LEAST_WEIGHT)), FORGOTTEN)

    def _all_pulls(self, t: int) -> float:
        """The weight of the pulls of all arms after t rounds."""
        return (1.0 - self.gamma**t) / (1.0 - self.gamma)

    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward)
        own = arms.own
        behind = own["last"].item(i) - draw.t
        if behind > 0:  # it comes after the outcome of a later round, and has faded since its own
            own["weight"][i] += self.gamma**behind
            own["paid"][i] += self.gamma**behind * reward / REWARD_ONE
            return
        left = self.gamma ** (-behind)
        own["weight"][i] = own["weight"].item(i) * left + 1.0
        own["paid"][i] = own["paid"].item(i) * left + reward / REWARD_ONE
        own["last"][i] = draw.t

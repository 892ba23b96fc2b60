"""Sliding-window UCB, for arms that change."""

from dataclasses import dataclass
from math import log

import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, Floats, to_float
from lotor.policies.base import ArmStates, Policy
from lotor.policies.forgetting import FORGOTTEN, checked_width

# So many rewards of at most 2^32 units add up to at most 2^52: exactly, in whatever order.
_LARGEST_WINDOW = 1 << 20


@dataclass(frozen=True, slots=True)
class SlidingWindowUCB(Policy):
    """UCB on the last tau rounds only (Garivier and Moulines, 2011).

    With an arm's N pulls in the last tau rounds and their mean, the score is
    mean + sqrt(xi ln(min(t, tau)) / N). An arm that was not pulled in them comes first.

    - `tau`: how many rounds are remembered. For T rounds the authors take 4 sqrt(T ln T), so the
      default is for about 10,000 rounds;
    - `xi`: how wide the bound is; the theorem needs more than 1/2, the authors' experiments have
      just that.

    An arm keeps its own rewards of tau rounds, each with its round, and needs nothing of other
    arms: SAMBA runs this policy. A checkpoint has 2 tau numbers for each arm.

    >>> import lotor
    >>> arms = lotor.ChangingArms([(1, [0.9, 0.1]), (300, [0.1, 0.9])])
    >>> run = lotor.run(lotor.SlidingWindowUCB(tau=60), arms, budget=600, seed=1)
    >>> run.arms[300:].count(1) > 200
    True
    """

    tau: int = 1000
    xi: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", checked_width(self.xi))
        tau = to_float("tau", self.tau)
        if not (1 <= tau <= _LARGEST_WINDOW and tau.is_integer()):
            raise InputError(
                f"tau is {self.tau}, the number of rounds that are remembered: give a whole number "
                f"from 1 to {_LARGEST_WINDOW}"
            )
        object.__setattr__(self, "tau", int(tau))

    def start(self, arms: ArmStates) -> None:
        # tau places for each arm; round t has the place t mod tau, and round 0 was never.
        for name in ("paid", "round"):
            arms.own[name] = np.zeros(len(arms) * self.tau)

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        shape = len(arms), self.tau
        inside = arms.own["round"].reshape(shape) >= max(t - self.tau, 1)
        n = inside.sum(axis=1)
        s = (arms.own["paid"].reshape(shape) * inside).sum(axis=1)
        pulled = np.maximum(n, 1)
        bound = s / (pulled * float(REWARD_ONE)) + np.sqrt(
            self.xi * log(min(t - 1, self.tau)) / pulled
        )
        return np.where(n > 0, bound, FORGOTTEN)

    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward)
        place = i * self.tau + draw.t % self.tau
        if arms.own["round"][place] > draw.t:  # it comes late, and is out of every window
            return
        arms.own["paid"][place] = reward
        arms.own["round"][place] = draw.t

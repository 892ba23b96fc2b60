"""What learns in plain: it chooses an arm and takes note of what that paid, round by round."""

from abc import ABC, abstractmethod

import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.fixed_point import Floats

NO_CONTEXT: Floats = np.empty(0)


class Learner(ABC):
    """A policy at work, with the draws of a run. An agent drives it, or a user, step by step.

    `choose` is asked once a round, then `learn` once with the arm that was pulled.
    """

    @abstractmethod
    def choose(self, t: int, x: Floats) -> int:
        """The arm of round t, given its context, which is NO_CONTEXT where there is none."""

    def found(self) -> BestArm | None:
        """The best arm so far, where the policy looks for it."""
        return None

    @abstractmethod
    def learn(self, t: int, arm: int, reward: int, x: Floats) -> None:
        """Take note of what an arm paid in round t, in units of 2^-32 of the reward range."""

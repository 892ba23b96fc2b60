"""Public bounds on what is learnt: how much V and g grow, whatever contexts and rewards are.

They follow from the ridge, L, S, sigma, the bounds on expected rewards and mean lengths and the
round alone. With n rounds in the estimate, tr V <= c = d·ridge + n L² or less, and every eigenvalue
is at least the ridge.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Final, Self

import numpy as np

from lotor.core.errors import InputError
from lotor.policies.optimistic import BatchedOFUL
from lotor.policies.optimistic.model import Batch
from lotor.protocols.helba.terms import Terms

# How probably noise ever carries an index beyond its bound (Theorem 2 of Abbasi-Yadkori et al.):
# 2^-40 in a whole run.
_LOG_UNLIKELY: Final = 40 * log(2)
# So many of the longest contexts may come before a mean is one.
_AHEAD: Final = 3

# What is compared stays this far below 1, since a comparison has the wrong sign just beyond it.
ROOM: Final = 2.0**-3


@dataclass(frozen=True)
class Growth:
    """What both forms' public numbers come from."""

    policy: BatchedOFUL
    d: int
    budget: int
    mean_bound: float
    rms_length: float

    @classmethod
    def of(cls, terms: Terms) -> Self:
        return cls(terms.learner, terms.d, terms.budget, terms.mean_bound, terms.rms_length)

    @property
    @abstractmethod
    def v_factor(self) -> float:
        """What x x^T is multiplied by before it is encrypted."""

    @cached_property
    def g_factor(self) -> float:
        """What r x is multiplied by before it is encrypted."""
        return 1 / self.length(self.budget - 1)

    def start(self, t: int, start: int) -> int:
        """The first round of the batch that round t belongs to, if the one before began there.

        This is the public schedule; condition (8) may end a batch before.
        """
        return t if self.policy.due(t, start) else start

    def starts(self) -> list[int]:
        """The first rounds of all batches, by the public schedule alone."""
        starts = [1]
        for t in range(2, self.budget + 1):
            if self.policy.due(t, starts[-1]):
                starts.append(t)
        return starts

    def batches(self) -> int:
        """How often X is computed in a run, by the public schedule alone."""
        return len(self.starts())

    def trace(self, n: int) -> float:
        """c: at least the trace of V after n rounds."""
        return self.d * self.policy.ridge + self.squares(n)

    def squares(self, n: int) -> float:
        """At least the sum of the squared lengths of n pulled contexts; users keep to it."""
        longest = self.policy.L**2
        return min(n * longest, n * self.rms_length**2 + _AHEAD * longest)

    def length(self, n: int) -> float:
        """At least the length of g after n rounds."""
        return sqrt(self.trace(n)) * self.fit(max(n, 1))

    def fit(self, n: int) -> float:
        """At least the length of V^-1/2 g: what all expected rewards give, and noise."""
        return sqrt(n) * self.mean + self.noise(n)

    @property
    def mean(self) -> float:
        """No expected reward is further from 0."""
        return min(self.mean_bound, self.policy.S * self.policy.L)

    def noise(self, n: int) -> float:
        """At least the length of V^-1/2 sum(noise·x) after n rounds."""
        policy = self.policy
        growth = self.d * log(1 + self.squares(n) / (self.d * policy.ridge))
        return policy.sigma * sqrt(growth + 2 * _LOG_UNLIKELY)

    def beta(self, t: int, start: int) -> float:
        """The radius that the index of round t has in the batch from `start`, public."""
        batch = Batch(start, np.eye(self.d), np.zeros(self.d), 0.0)
        return self.policy.beta(t, batch)

    def radius(self, n: int) -> float:
        """At least the distance of the estimate to theta under V."""
        return self.noise(n) + self.policy.S * sqrt(self.policy.ridge)

    @cached_property
    def reward(self) -> float:
        """No reward is further from 0, but with a probability of 2^-40 in a whole run."""
        return self.mean + self.policy.sigma * sqrt(2 * (_LOG_UNLIKELY + log(2 * self.budget)))


def check_reward(reward: float, bounds: Growth, t: int) -> None:
    """Refuse to learn from a reward that none can be whose mean and noise are as stated."""
    if abs(reward) > bounds.reward:
        raise InputError(
            f"the reward of round {t} is further from 0 than {bounds.reward:g}, which mean_bound = "
            f"{bounds.mean_bound:g} and sigma = {bounds.policy.sigma:g} rule out: state larger "
            "ones, or divide rewards"
        )


def check_squares(squares: float, bounds: Growth, n: int) -> None:
    """Refuse to learn from contexts that are longer on average than was stated."""
    if squares > bounds.squares(n) * (1 + 1e-6):
        raise InputError(
            f"the contexts pulled in {n} rounds are longer on average than rms_length = "
            f"{bounds.rms_length:g} allows: state a larger one, at most L"
        )


def clear_error(arms: int, noise: float) -> float:
    """How far comparisons may be from a sign, with the best arm still ahead by six deviations.

    It wins against each of the others up to this error e: its b is at least (1 - e/2)^(K-1), and
    another's at most e/2.
    """
    margin = 6 * sqrt(2) * noise
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        ahead = (1 - middle / 2) ** (arms - 1) - middle / 2
        low, high = (middle, high) if ahead >= margin else (low, middle)
    return low

"""Public bounds, by which every circuit scales what it encrypts: nothing leaves its range.

They say how much V and g grow, whatever contexts and rewards are, and follow from the ridge, L, S,
sigma, the bounds on expected rewards and mean lengths and the round alone. With n rounds in the
estimate, tr V <= c = d·ridge + n L² or less, and every eigenvalue is at least the ridge.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import floor, log, log2, sqrt
from typing import Final, Self

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.ckks import ADJUGATE_LEVELS, NewtonPlan, newton_plan
from lotor.policies.optimistic import BatchedOFUL
from lotor.policies.optimistic.model import Batch
from lotor.protocols.helba.terms import HelbaTerms

# The probability that noise ever carries an index beyond its bound (Theorem 2 of Abbasi-Yadkori et
# al.): 2^-40 in a whole run.
_LOG_UNLIKELY: Final = 40 * log(2)
# So many of the longest contexts may come before a mean length is meaningful.
_AHEAD: Final = 3
_QUADRATIC_NEWTON_ERROR: Final = 2.0**-9
# Below what any root or comparison tells apart; the last step squares it.
_ROOT_NEWTON_ERROR: Final = 2.0**-14
# At the top level there is room for large numbers, beside which the noise of sums is small.
_AMPLE: Final = 2.0**8

# What is compared stays this far below 1, since a comparison has the wrong sign just beyond it.
ROOM: Final = 2.0**-3


@dataclass(frozen=True)
class PublicBounds:
    """The bounds that all circuits have in common."""

    policy: BatchedOFUL
    d: int
    budget: int
    mean_bound: float
    rms_length: float

    @classmethod
    def of(cls, terms: HelbaTerms) -> Self:
        return cls(terms.learner, terms.d, terms.budget, terms.mean_bound, terms.rms_length)

    @property
    @abstractmethod
    def v_factor(self) -> float:
        """The user multiplies x x^T by it before encrypting."""

    @cached_property
    def g_factor(self) -> float:
        """The user multiplies r x by it before encrypting."""
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


def check_reward(reward: float, bounds: PublicBounds, t: int) -> None:
    """Refuse a reward that cannot have the stated mean and noise."""
    if abs(reward) > bounds.reward:
        raise InputError(
            f"the reward of round {t} is further from 0 than {bounds.reward:g}, which mean_bound = "
            f"{bounds.mean_bound:g} and sigma = {bounds.policy.sigma:g} rule out: state a larger "
            "mean_bound or sigma, or divide all rewards by a constant"
        )


def check_squares(squares: float, bounds: PublicBounds, n: int) -> None:
    """Refuse contexts that are longer on average than `rms_length` allows."""
    if squares > bounds.squares(n) * (1 + 1e-6):
        raise InputError(
            f"the contexts pulled in {n} rounds are longer on average than rms_length = "
            f"{bounds.rms_length:g} allows: state a larger rms_length, at most L"
        )


@dataclass(frozen=True)
class QuadraticBounds(PublicBounds):
    """Bounds for index="optimistic-quadratic", the index without a root."""

    @property
    def by_adjugate(self) -> bool:
        """Whether the sign of a difference is that of <adj(V), …>, or V is inverted."""
        return self.d in ADJUGATE_LEVELS

    @cached_property
    def newton(self) -> NewtonPlan:
        """One plan for all batches: doubling keeps every spectrum within that of the last."""
        return newton_plan(self.policy.ridge / self.trace(self.budget - 1), _QUADRATIC_NEWTON_ERROR)

    @cached_property
    def v_factor(self) -> float:
        """The user multiplies x x^T by it before encrypting."""
        last = self.trace(self.budget - 1)
        if not self.by_adjugate:
            return self.newton.largest / last
        # So that no product of d - 1 eigenvalues is above 1.
        return (self.d - 1) / (last - self.policy.ridge)

    def v_doublings(self, start: int) -> int:
        """How often the server doubles V, which is small in early rounds."""
        return floor(log2(self.trace(self.budget - 1) / self.trace(start - 1)))

    def g_doublings(self, start: int) -> int:
        """How often the server doubles g, which is small in early rounds."""
        return floor(log2(self.length(self.budget - 1) / self.length(start - 1)))

    def weight(self, t: int, start: int) -> float:
        """q = beta/(2u): what a squared length counts in the index, beside an estimate."""
        return self.beta(t, start) / (2 * self.policy.touches(t, self.d))

    def difference(self, t: int, start: int) -> float:
        """At least the difference of two indices, times det V where that is not divided by.

        |<x - y, w>| is at most its expectation plus |x - y| under V^-1 times the radius of the
        ellipsoid, and at most |x - y| under V^-1 times |V^-1/2 g|.
        """
        policy, n = self.policy, start - 1
        longest, determinant = 1 / policy.ridge, 1.0
        if self.by_adjugate:
            longest, determinant = self._product(self.d - 1, n), self._product(self.d, n)
        estimate = 0.0
        if n:
            apart = 2 * policy.L * sqrt(longest * determinant)
            estimate = min(
                2 * self.mean * determinant + apart * self.radius(n),
                apart * self.fit(n),
            )
        return (1 + ROOM) * (self.weight(t, start) * policy.L**2 * longest + estimate)

    def _product(self, count: int, n: int) -> float:
        """At least the product of V's `count` largest eigenvalues, of which n may grow."""
        policy, grown = self.policy, min(count, n)
        if not grown:
            return float(policy.ridge**count)
        each = policy.ridge + self.squares(n) / grown
        return float(policy.ridge ** (count - grown) * each**grown)

    def gap(self, value: float, t: int, start: int, log_determinant: float) -> float:
        """The difference of two indices that is compared as `value`, at this ln det V."""
        scaled = value * self.difference(t, start)
        return scaled / float(np.exp(log_determinant)) if self.by_adjugate else scaled

    def balanced(self, start: int) -> float:
        """ln det V if contexts pointed in all directions alike, and were as long as they may."""
        return log(self._product(self.d, start - 1))

    def factors(self, t: int, start: int) -> tuple[float, float]:
        """The factors of products x x^T and of differences x - y, so that |value| <= 1."""
        v = self.v_factor * 2 ** self.v_doublings(start)
        g = self.g_factor * 2 ** self.g_doublings(start)
        # The server's X is v^(d-1)·adj(V), or V^-1/v.
        x = v ** (self.d - 1) if self.by_adjugate else 1 / v
        unit = 1 / (x * self.difference(t, start))
        return self.weight(t, start) * unit, unit / g

    def inverse_levels(self) -> int:
        """How many levels X takes."""
        return ADJUGATE_LEVELS[self.d] if self.by_adjugate else self.newton.levels


@dataclass(frozen=True)
class RootBounds(PublicBounds):
    """Bounds for index="sqrt", the paper's.

    The refreshed estimate is X = ridge·V^-1 and h = w/W with W >= |w|: no entry is beyond ±1.
    """

    def newton(self, start: int) -> NewtonPlan:
        """How V of all rounds before `start` is inverted: the smaller it is, the fewer steps."""
        return newton_plan(self.policy.ridge / self.trace(start - 1), _ROOT_NEWTON_ERROR)

    def most_newton_levels(self) -> int:
        """How many levels the last batch's inverse takes."""
        return self.newton(self.budget).levels

    @cached_property
    def v_factor(self) -> float:
        """The user multiplies x x^T by it before encrypting."""
        return _AMPLE / self.trace(self.budget - 1)

    @cached_property
    def g_factor(self) -> float:
        """The user multiplies r x by it before encrypting."""
        return _AMPLE / self.length(self.budget - 1)

    def v_scale(self, start: int) -> float:
        """The factor of V of all rounds before `start` when it is inverted."""
        return self.newton(start).largest / self.trace(start - 1)

    def g_scale(self, start: int) -> float:
        """The factor of g of all rounds before `start` then."""
        return 1 / self.length(start - 1)

    def x_unit(self, start: int) -> float:
        """The factor that turns the inverse of the scaled V into ridge·V^-1."""
        return self.policy.ridge * self.v_scale(start)

    def h_unit(self, start: int) -> float:
        """The factor that turns the product of that inverse with the scaled g into w/W."""
        return self.v_scale(start) / (self.g_scale(start) * self.weights(start))

    def weights(self, start: int) -> float:
        """W: at least the length of w of all rounds before `start`."""
        policy, n = self.policy, max(start - 1, 1)
        return min(policy.S + self.noise(n) / sqrt(policy.ridge), self.fit(n) / sqrt(policy.ridge))

    def longest(self, start: int) -> float:
        """At least z + eps: the range of the root."""
        return self.policy.L**2 / self.policy.ridge + self.policy.slack(start)

    def difference(self, t: int, start: int, root_error: float) -> float:
        """At least the difference of two indices, the root being inexact by up to `root_error`.

        With a = |x| and b = |y| under V^-1, both at most L/sqrt(ridge), |<x - y, w>| is at most its
        expectation plus (a + b)·radius, and at most (a + b)·|V^-1/2 g|; the roots add beta (a - b).
        """
        policy, n, beta = self.policy, start - 1, self.beta(t, start)
        longest = policy.L / sqrt(policy.ridge)

        def most(radius: float) -> float:
            return longest * max(beta + radius, 2 * radius)

        indices = min(2 * self.mean + most(self.radius(n)), most(self.fit(n))) if n else most(0.0)
        return (1 + ROOM) * (indices + 2 * beta * root_error)

    @property
    def switch(self) -> float:
        """At least |tr - C| for the right side tr of condition (8).

        A batch goes on only while tr < C, and a round adds at most L²/ridge; earlier comparisons
        may have been wrong by less than the room.
        """
        policy = self.policy
        return (1 + ROOM) * max(policy.C or 0.0, policy.L**2 / policy.ridge)

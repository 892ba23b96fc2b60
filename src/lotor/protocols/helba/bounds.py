"""Public bounds: by which factors encrypted numbers are scaled so that none leaves its range.

They follow from the ridge, L, S, sigma, the bounds on expected rewards and mean lengths and the
round alone. With n rounds in the estimate, tr V <= c = d·ridge + n L² or less, and every eigenvalue
is at least the ridge.
"""

from dataclasses import dataclass
from functools import cached_property
from math import floor, log, log2, sqrt
from typing import Final

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.ckks import ADJUGATE_LEVELS, NewtonPlan, newton_plan
from lotor.policies.optimistic import BatchedOFUL
from lotor.policies.optimistic.model import Batch
from lotor.protocols.helba.terms import Terms

# How probably noise ever carries an index beyond its bound (Theorem 2 of Abbasi-Yadkori et al.):
# 2^-40 in a whole run.
_LOG_UNLIKELY: Final = 40 * log(2)
_NEWTON_ERROR: Final = 2.0**-9
# So many of the longest contexts may come before a mean is one.
_AHEAD: Final = 3


@dataclass(frozen=True)
class Bounds:
    """The public numbers of a run."""

    policy: BatchedOFUL
    d: int
    budget: int
    mean_bound: float
    rms_length: float

    @classmethod
    def of(cls, terms: Terms) -> "Bounds":
        return cls(terms.learner, terms.d, terms.budget, terms.mean_bound, terms.rms_length)

    @property
    def by_adjugate(self) -> bool:
        """Whether the sign of a difference is that of <adj(V), …>, or V is inverted."""
        return self.d in ADJUGATE_LEVELS

    @cached_property
    def newton(self) -> NewtonPlan:
        """One plan for all batches: doubling keeps every spectrum within that of the last."""
        return newton_plan(self.policy.ridge / self.trace(self.budget - 1), _NEWTON_ERROR)

    def start(self, t: int, start: int) -> int:
        """The first round of the batch that round t belongs to, if the one before began there."""
        return t if self.policy.due(t, start) else start

    def trace(self, n: int) -> float:
        """c: at least the trace of V after n rounds."""
        return self.d * self.policy.ridge + self.squares(n)

    def squares(self, n: int) -> float:
        """At least the sum of the squared lengths of n pulled contexts; users keep to it."""
        longest = self.policy.L**2
        return min(n * longest, n * self.rms_length**2 + _AHEAD * longest)

    def length(self, n: int) -> float:
        """At least the length of g after n rounds."""
        return sqrt(self.trace(n)) * self._fit(max(n, 1))

    def _fit(self, n: int) -> float:
        """At least the length of V^-1/2 g: what all expected rewards give, and noise."""
        return sqrt(n) * self._mean + self._noise(n)

    @property
    def _mean(self) -> float:
        return min(self.mean_bound, self.policy.S * self.policy.L)

    def _noise(self, n: int) -> float:
        policy = self.policy
        growth = self.d * log(1 + self.squares(n) / (self.d * policy.ridge))
        return policy.sigma * sqrt(growth + 2 * _LOG_UNLIKELY)

    @cached_property
    def v_factor(self) -> float:
        """What x x^T is multiplied by before it is encrypted."""
        last = self.trace(self.budget - 1)
        if not self.by_adjugate:
            return self.newton.largest / last
        # So that no product of d - 1 eigenvalues is above 1.
        return (self.d - 1) / (last - self.policy.ridge)

    @cached_property
    def g_factor(self) -> float:
        """What r x is multiplied by before it is encrypted."""
        return 1 / self.length(self.budget - 1)

    def v_doublings(self, start: int) -> int:
        """How often the server doubles V, which is small in early rounds."""
        return floor(log2(self.trace(self.budget - 1) / self.trace(start - 1)))

    def g_doublings(self, start: int) -> int:
        return floor(log2(self.length(self.budget - 1) / self.length(start - 1)))

    def weight(self, t: int, start: int) -> float:
        """q = beta/(2u): what a squared length counts in the index, beside an estimate."""
        batch = Batch(start, np.eye(self.d), np.zeros(self.d), 0.0)
        return self.policy.beta(t, batch) / (2 * self.policy.touches(t, self.d))

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
            radius = self._noise(n) + policy.S * sqrt(policy.ridge)
            estimate = min(
                2 * self._mean * determinant + apart * radius,
                apart * self._fit(n),
            )
        return self.weight(t, start) * policy.L**2 * longest + estimate

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
        """What products x x^T and differences x - y are multiplied by, so that |value| <= 1."""
        v = self.v_factor * 2 ** self.v_doublings(start)
        g = self.g_factor * 2 ** self.g_doublings(start)
        # The server's X is v^(d-1)·adj(V), or V^-1/v.
        x = v ** (self.d - 1) if self.by_adjugate else 1 / v
        unit = 1 / (x * self.difference(t, start))
        return self.weight(t, start) * unit, unit / g

    def batches(self) -> int:
        """How often X is computed in a run."""
        start, count = 1, 1
        for t in range(2, self.budget + 1):
            if self.policy.due(t, start):
                start, count = t, count + 1
        return count

    def inverse_levels(self) -> int:
        """How many levels X takes."""
        return ADJUGATE_LEVELS[self.d] if self.by_adjugate else self.newton.levels


def check_squares(squares: float, bounds: Bounds, n: int) -> None:
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

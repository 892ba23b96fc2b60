"""The public numbers of the index without a root: nothing that is computed leaves its range."""

from dataclasses import dataclass
from functools import cached_property
from math import floor, log, log2, sqrt
from typing import Final

import numpy as np

from lotor.crypto.ckks import ADJUGATE_LEVELS, NewtonPlan, newton_plan
from lotor.protocols.helba.growth import ROOM, Growth

_NEWTON_ERROR: Final = 2.0**-9


@dataclass(frozen=True)
class Bounds(Growth):
    """By which factors encrypted numbers are scaled, with index="optimistic-quadratic"."""

    @property
    def by_adjugate(self) -> bool:
        """Whether the sign of a difference is that of <adj(V), …>, or V is inverted."""
        return self.d in ADJUGATE_LEVELS

    @cached_property
    def newton(self) -> NewtonPlan:
        """One plan for all batches: doubling keeps every spectrum within that of the last."""
        return newton_plan(self.policy.ridge / self.trace(self.budget - 1), _NEWTON_ERROR)

    @cached_property
    def v_factor(self) -> float:
        """What x x^T is multiplied by before it is encrypted."""
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
        """What products x x^T and differences x - y are multiplied by, so that |value| <= 1."""
        v = self.v_factor * 2 ** self.v_doublings(start)
        g = self.g_factor * 2 ** self.g_doublings(start)
        # The server's X is v^(d-1)·adj(V), or V^-1/v.
        x = v ** (self.d - 1) if self.by_adjugate else 1 / v
        unit = 1 / (x * self.difference(t, start))
        return self.weight(t, start) * unit, unit / g

    def inverse_levels(self) -> int:
        """How many levels X takes."""
        return ADJUGATE_LEVELS[self.d] if self.by_adjugate else self.newton.levels

"""The public numbers of the paper's index: nothing that is computed leaves its range.

The refreshed estimate is X = ridge·V^-1 and h = w/W with W >= |w|: no entry is beyond ±1.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Final

from lotor.crypto.ckks import NewtonPlan, newton_plan
from lotor.protocols.helba.growth import ROOM, Growth

# Below what any root or comparison tells apart; the last step squares it.
_NEWTON_ERROR: Final = 2.0**-14
# At the top level there is room for large numbers, beside which the noise of sums is small.
_AMPLE: Final = 2.0**8


@dataclass(frozen=True)
class RootBounds(Growth):
    """By which factors encrypted numbers are scaled, with index="sqrt"."""

    def newton(self, start: int) -> NewtonPlan:
        """How V of all rounds before `start` is inverted: the smaller it is, the fewer steps."""
        return newton_plan(self.policy.ridge / self.trace(start - 1), _NEWTON_ERROR)

    def most_newton_levels(self) -> int:
        """How many levels the last batch's inverse takes."""
        return self.newton(self.budget).levels

    @cached_property
    def v_factor(self) -> float:
        """What x x^T is multiplied by before it is encrypted."""
        return _AMPLE / self.trace(self.budget - 1)

    @cached_property
    def g_factor(self) -> float:
        """What r x is multiplied by before it is encrypted."""
        return _AMPLE / self.length(self.budget - 1)

    def v_scale(self, start: int) -> float:
        """What V of all rounds before `start` is multiplied by when it is inverted."""
        return self.newton(start).largest / self.trace(start - 1)

    def g_scale(self, start: int) -> float:
        """What g of all rounds before `start` is multiplied by then."""
        return 1 / self.length(start - 1)

    def x_unit(self, start: int) -> float:
        """What turns the inverse of the scaled V into ridge·V^-1."""
        return self.policy.ridge * self.v_scale(start)

    def h_unit(self, start: int) -> float:
        """What turns the product of that inverse with the scaled g into w/W."""
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

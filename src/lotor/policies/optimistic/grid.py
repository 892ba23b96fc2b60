"""Whole numbers in place of floats: where contexts and rewards lie, and what multiplies them.

HELBA's shared form computes on exactly these numbers, and so does its plain. Let F and G be
`context_bits` and `reward_bits`. Contexts are multiples of 2^-F and rewards of 2^-G; V counts in
4^-F, g in 2^-(F+G), and the adjugate of V in 4^-F(d-1). Scores are not divided by det V, which is
above 0 and the same for all arms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt
from typing import Final

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.policies.linear.bounds import NORM_SLACK
from lotor.policies.optimistic.batched_oful import BatchedOFUL
from lotor.policies.optimistic.model import Batch

RESOLUTION: Final = 12
"""The index "sqrt" is cut to multiples of 2^-12 or finer ones."""

MOST_BITS: Final = 24
SMALLEST: Final = 1e-30
"""No parameter of a policy is smaller, or larger than its inverse, but for 0."""

WholeContexts = Sequence[Sequence[int]]


def rounded(value: float) -> int:
    """The nearest whole number, the upper one of two: exactly, whatever the size.

    >>> [rounded(value) for value in (0.5, -0.5, 2.4999, 1e300) ] == [1, 0, 2, int(1e300)]
    True
    """
    below = floor(value)
    return below + (value - below >= 0.5)


@dataclass(frozen=True, slots=True)
class Grid:
    """How fine contexts and rewards are.

    >>> grid = Grid()
    >>> grid.contexts(np.array([[0.5, -0.25]])), grid.reward(1.0)
    ([[512, -256]], 256)
    """

    context_bits: int = 10
    reward_bits: int = 8

    def __post_init__(self) -> None:
        for name in ("context_bits", "reward_bits"):
            bits = getattr(self, name)
            if type(bits) is not int or not 1 <= bits <= MOST_BITS:
                raise InputError(f"{name} is {bits!r}: give a whole number from 1 to {MOST_BITS}")

    def contexts(self, x: Floats) -> list[list[int]]:
        """Contexts, a row for each arm."""
        scaled: list[list[float]] = (x * 2.0**self.context_bits).tolist()
        return [[rounded(number) for number in row] for row in scaled]

    def reward(self, reward: float) -> int:
        """A reward in the user's unit."""
        return rounded(reward * 2.0**self.reward_bits)


class WholeIndex:
    """The index of `BatchedOFUL` as whole numbers: all that depends on nothing but the round.

    With a = <x, adj(V) g> and z = x^T adj(V) x, an arm's score is

    - "optimistic-quadratic": a + q z, where q is beta/(2 u) in 2^-G;
    - "sqrt": (a >> drop) + isqrt(c >> 2 drop) with c = b det(V) z + e det(V)^2, where b and e are
      beta^2 and beta^2·eps in 4^-G. `drop` leaves a unit of at most 2^-12 of an index.

    What all arms have in common is left out of it.
    """

    def __init__(self, policy: BatchedOFUL, grid: Grid, d: int) -> None:
        if policy.C is not None:
            raise InputError(
                f"C={policy.C:g}: condition (8) depends on contexts, so that a batch it ends would "
                "tell the server a bit of them in each round: leave C out and renew the estimate "
                "by eta alone (eta=0 renews it in each round), or choose form='paper'"
            )
        if d < 1:
            raise InputError(f"contexts of {d} numbers leave nothing to learn: give at least one")
        self.policy = policy
        self.grid = grid
        self.d = d
        self._check_range()
        self.ridge = max(1, rounded(policy.ridge * 4.0**grid.context_bits))
        # det V is never below ridge^d, so the unit of scores never grows beyond 2^-12.
        self._least: int = (self.ridge**d).bit_length() - 1
        self.drop: int = max(0, self._least + grid.reward_bits - RESOLUTION)

    def _check_range(self) -> None:
        """Refuse numbers whose squares and roots leave the range of floats."""
        for name in ("ridge", "delta", "sigma", "S", "L"):
            value = getattr(self.policy, name)
            if value and not SMALLEST <= value <= 1 / SMALLEST:
                raise InputError(
                    f"{name} is {value:g}: give a number from {SMALLEST:g} to {1 / SMALLEST:g}, or "
                    "scale contexts and rewards so that it is one"
                )

    def __repr__(self) -> str:
        return f"<WholeIndex of {self.d} dimensions>"

    @property
    def rooted(self) -> bool:
        return self.policy.index == "sqrt"

    def beta(self, t: int, start: int) -> float:
        """The radius of round t, in the batch from `start`."""
        nothing = np.zeros((self.d, self.d))
        return self.policy.beta(t, Batch(start, nothing, nothing[0], 0.0))

    def factor(self, t: int, start: int) -> int:
        """q."""
        half = self.beta(t, start) / (2 * self.policy.touches(t, self.d))
        return rounded(half * 2.0**self.grid.reward_bits)

    def squares(self, t: int, start: int) -> tuple[int, int]:
        """b and e."""
        square = self.beta(t, start) ** 2 * 4.0**self.grid.reward_bits
        return rounded(square), rounded(square * self.policy.slack(start))

    def resolution(self, t: int, start: int) -> float:
        """An arm wins whose index leads by more than this, on the contexts and rewards of the grid.

        "optimistic-quadratic": q is off by half a unit, and z is at most L^2/ridge. "sqrt": b z + e
        is off by at most (z + 1)/2 units, its root by the root of that, and both cuts by one unit.
        """
        grid, policy = self.grid, self.policy
        unit: float = 2.0**-grid.reward_bits
        longest: float = policy.L * (1 + NORM_SLACK) + sqrt(self.d) / 2 ** (grid.context_bits + 1)
        z: float = longest**2 * 4.0**grid.context_bits / self.ridge
        if not self.rooted:
            return unit * z / 2
        cut: float = 2.0 ** (self.drop - self._least)
        return 2 * unit * (sqrt((z + 1) / 2) + cut)

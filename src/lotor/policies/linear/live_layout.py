"""The fixed point of scores with live rewards: plain and secure add the same integers.

A score is <A^-1 x, b> + omega |x|_{A^-1} with b = sum r_s x_s. A reward from a public range of
width w around `middle` is rounded once, to an integer e_s from -2^31 to 2^31 with r_s = middle +
w e_s / 2^32. So b = middle sum x_s + w / 2^32 sum e_s x_s: whoever knows the pulled arms knows the
first sum, which goes into c, and the second is all that is secret. With X_s for x_s as integers and
H = 2^126 - 1, in units of `unit`:

    slot = <u, sum e_s X_s> + max(c - c_max, -2H - 1) + 3H + 1

No slot of 128 bits overflows and none borrows from its neighbour:
- no X is longer than 2^32 (checked when it is made), so the sum of N of them, each with a factor of
  at most 2^31, is not longer than N 2^63;
- every row of u has a norm below 2^(B-1) (checked each round), with B = min(48, 64 - |N|) where N
  is below 2^|N|, so by Cauchy and Schwarz |<u, sum>| < 2^(B-1) N 2^63 < 2^126;
- so the slot lies between -H - 2H - 1 + 3H + 1 = 0 and H + 0 + 3H + 1 = 4H + 1 = 2^128 - 3.
The clamp changes no choice: see layout.py. The sum of all e_s is at most N 2^31.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import floor, ldexp, log2, sqrt
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import REWARD_ONE, Floats, RewardScale
from lotor.core.vectors import largest_norm
from lotor.policies.linear.layout import (
    LARGEST_BOUND,
    LARGEST_DIMENSION,
    LEAST_BOUND,
    Integers,
    SlotBits,
    shifted,
)

_SUM_BITS = 64
_MOST_U_BITS = 48
_ARM_BITS = 32
_HALF_RANGE = REWARD_ONE // 2
# Rounding may make A^-1 x a little longer; this leaves room for that.
_SLACK = 1 + 2.0**-10
# A norm that floats computed may be off by this much.
_FLOAT_ERROR = 2.0**-30
# Rounding u may move a score by at most this part of the range of rewards.
_COARSEST = 2.0**-16


@dataclass(frozen=True, slots=True)
class LiveLayout:
    """How u, c, arms and rewards become integers, from what is public: N, the arms, the range.

    `least_penalty` is that of the policy's model: the smallest eigenvalue of its regulariser.

    >>> layout = LiveLayout(np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0, RewardScale(0, 10), budget=9)
    >>> sums = layout.sums()
    >>> for arm, reward in ((0, 10.0), (1, 2.5), (1, 0.0)):
    ...     sums.add(arm, layout.excess(reward))
    >>> layout.reward(sums.total, pulls=3)
    12.5
    """

    slot_bits: ClassVar[SlotBits] = 128
    half: ClassVar[int] = (1 << 126) - 1
    """H: no product <u, sum> is beyond it."""

    vectors: Floats = field(repr=False)
    least_penalty: float
    scale: RewardScale
    budget: int
    longest: float = field(init=False)
    u_bits: int = field(init=False)
    u_fraction: int = field(init=False)
    arm_fraction: int = field(init=False)

    def __post_init__(self) -> None:
        longest = largest_norm(self.vectors)
        object.__setattr__(self, "longest", longest)
        self._check_bounds()
        object.__setattr__(self, "u_bits", min(_MOST_U_BITS, _SUM_BITS - self.budget.bit_length()))
        # The roundings of d coordinates by at most 1/2 each move a vector by sqrt(d)/2 at most.
        rounding = sqrt(self.d) / 2
        u_room = ldexp(1 - 2 * _FLOAT_ERROR, self.u_bits - 1) - 1 - rounding
        arm_room = ldexp(1 - 2 * _FLOAT_ERROR, _ARM_BITS) - rounding
        fraction = floor(log2(u_room) - log2(longest * _SLACK) + log2(self.least_penalty))
        object.__setattr__(self, "u_fraction", fraction)
        object.__setattr__(self, "arm_fraction", floor(log2(arm_room / longest)))
        if not self.resolution <= _COARSEST * self.width:
            raise InputError(
                f"gamma is too small for arms of length {longest:g} and {self.budget} pulls: the "
                "fixed point would tell scores apart only to more than 2^-16 of the range of "
                "rewards; state a larger gamma, or order fewer pulls"
            )

    def _check_bounds(self) -> None:
        k, d = self.vectors.shape
        if k < 2 or not 1 <= d <= LARGEST_DIMENSION:
            raise InputError(
                f"the fixed point does not fit {k} arms in {d} dimensions: give at least two arms, "
                f"of 1 to {LARGEST_DIMENSION} dimensions"
            )
        furthest = max(abs(self.scale.low), abs(self.scale.high))
        if not (
            LEAST_BOUND <= self.longest <= LARGEST_BOUND
            and self.width >= LEAST_BOUND
            and furthest <= LARGEST_BOUND
            # As large as the square of a length, and what it is divided by.
            and LEAST_BOUND**3 <= self.least_penalty <= LARGEST_BOUND**3
        ):
            raise InputError(
                f"a slot could overflow with arms of length {self.longest:g}, gamma "
                f"{self.least_penalty:g} and rewards from {self.scale.low:g} to "
                f"{self.scale.high:g}: the longest arm and the width of the range must lie between "
                "2^-64 and 2^64, gamma between 2^-192 and 2^192, and no reward beyond 2^64; "
                "rescale arms or rewards"
            )

    @property
    def k(self) -> int:
        return len(self.vectors)

    @property
    def d(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def width(self) -> float:
        """Of the range of rewards."""
        return self.scale.high - self.scale.low

    @property
    def middle(self) -> float:
        """What is known of every reward."""
        return self.scale.low + self.width / 2

    @property
    def unit(self) -> float:
        """A slot's 1 is a score of so much."""
        return ldexp(self.width / REWARD_ONE, -self.arm_fraction - self.u_fraction)

    @property
    def resolution(self) -> float:
        """How far rounding u may move a score: sqrt(d)/2 roundings along the longest sum."""
        longest_sum = self.budget * self.width / 2 * self.longest
        return sqrt(self.d) / 2 * ldexp(longest_sum, -self.u_fraction)

    def excess(self, reward: float) -> int:
        """A reward as an integer from -2^31 to 2^31: 0 is the middle of the range."""
        return self.scale.to_fixed(reward) - _HALF_RANGE

    def sums(self) -> "LiveSums":
        """Nothing pulled yet."""
        return LiveSums(self.arms())

    def arms(self) -> list[list[int]]:
        """The arms as integers, none longer than 2^32."""
        rows = np.rint(np.ldexp(self.vectors, self.arm_fraction))
        if not largest_norm(rows) <= ldexp(1.0, _ARM_BITS):
            raise InputError(
                "an arm does not fit in the fixed point: its numbers are not finite; correct them"
            )
        return [[int(value) for value in row] for row in rows.tolist()]

    def u(self, u: Floats) -> Integers:
        """The rows of u as signed integers of u_bits bits, refused if one could overflow a slot."""
        if u.shape != self.vectors.shape:
            raise PolicyError(f"u has shape {u.shape} instead of {self.vectors.shape}")
        most = 4 * self.longest / self.least_penalty
        fixed = np.rint(np.ldexp(np.clip(u, -most, most), self.u_fraction))
        # nan fails the comparison too.
        if not largest_norm(fixed) <= ldexp(1 - _FLOAT_ERROR, self.u_bits - 1) - 1:
            raise PolicyError(
                f"a slot could overflow: A^-1 x is longer than gamma = {self.least_penalty:g} "
                "allows; gamma may be too small for these arms"
            )
        return fixed.astype(np.int64)

    def addends(self, c: Floats) -> list[int]:
        """What is added to <u, sum> in each slot."""
        if c.shape != (self.k,) or not np.isfinite(c).all():
            raise PolicyError(f"c must be {self.k} finite numbers: gamma may be too small")
        # Clipped first, so that nothing leaves the range of floats: 2H + 2 = 2^127.
        with np.errstate(over="ignore"):
            below = (c - c.max()) / self.unit
        return shifted(np.maximum(below, -ldexp(1.0, self.slot_bits - 1)), self.half)

    def scores(self, u: Integers, sums: Sequence[int], addends: Sequence[int]) -> list[int]:
        """The slots' contents, exactly: each in [0, 2^128 - 3]."""
        products = u.astype(object) @ np.array(sums, dtype=object)
        return [product + addend for product, addend in zip(products, addends, strict=True)]

    def largest_total(self, budget: int) -> int:
        """No sum of `budget` excesses is beyond this, with either sign."""
        return budget * _HALF_RANGE

    def reward(self, total: int, pulls: int) -> float:
        """A sum of excesses as that of the rewards, in the user's unit."""
        return self.scale.total(total + pulls * _HALF_RANGE, pulls)


class LiveSums:
    """sum e_s X_s, and sum e_s, in clear."""

    __slots__ = ("_arms", "learnt", "total")

    def __init__(self, arms: list[list[int]]) -> None:
        self._arms = arms
        self.learnt = [0] * len(arms[0])
        self.total = 0

    def __repr__(self) -> str:
        return f"<LiveSums in {len(self.learnt)} dimensions>"

    def add(self, arm: int, excess: int) -> None:
        """Count one reward."""
        self.total += excess
        self.learnt = [
            one + excess * x for one, x in zip(self.learnt, self._arms[arm], strict=True)
        ]

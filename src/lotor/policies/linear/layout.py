"""The fixed point of linear scores: plain and secure add and compare the same integers.

A score <u, theta> + c is rounded once, coordinate by coordinate, and put into a slot of w bits.
With B = u_bits and H = 2^(w-2) - 1, in units of 2^-(u_fraction + theta_fraction):

    slot = <u, theta> + max(c - c_max, -2H - 1) + 3H + 1

No slot overflows and none borrows from its neighbour:
- every row of u has a norm of at most 2^(B-1) - 1 (checked each round), theta one of at most
  2^(w-1-B) (checked by its owner), so by Cauchy and Schwarz |<u, theta>| <=
  2^(w-2) - 2^(w-1-B) <= H. That holds for every part of the sum too, so that 64-bit arithmetic
  is exact on the way;
- so the slot lies between -H - 2H - 1 + 3H + 1 = 0 and H + 0 + 3H + 1 = 4H + 1 = 2^w - 3.
The clamp changes no choice: an arm that it touches has <u, theta> + c - c_max <= H - 2H - 1,
clamped or not, and the arm of c_max has at least -H.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import floor, isfinite, ldexp, log2, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.policies.linear.bounds import check_norm

SlotBits: TypeAlias = Literal[59, 62, 64, 96, 128]
"""The widths of the forms that compute on shares (59, 62), of the paper's form (64, 96), and of
live rewards (128, see live_layout.py)."""
MODEL_SLOT_BITS: tuple[SlotBits, ...] = (59, 62, 64, 96)

Integers: TypeAlias = NDArray[np.int64]

LEAST_BOUND, LARGEST_BOUND = 2.0**-64, 2.0**64
LARGEST_DIMENSION = 1 << 20
_LEAST_U_BITS, _MOST_U_BITS = 16, 48

# Rounding may make u a little longer than its arm; this leaves room for that.
_SLACK = 1 + 2.0**-10
# A norm that floats computed may be off by this much.
_FLOAT_ERROR = 2.0**-30

# An arm's coordinate in the sum of rewards has this many bits beside the sign.
_ARM_BITS = 52
# Noise may be this many times as large as L·S.
_NOISE_BITS = 32


@dataclass(frozen=True, slots=True)
class Layout:
    """How u, theta, c and rewards become integers, from public bounds: |x| <= L, |theta| <= S.

    Slots of 59 to 64 bits compare scores to 8 or 9 digits of L·S; 96-bit slots, for arms that are
    nearly equal, to about 13.

    >>> layout = Layout(L=1.0, S=1.0, k=2, d=2)
    >>> theta = layout.theta(np.array([0.5, -0.25]))
    >>> u = layout.u(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> first, second = layout.scores(u, theta, layout.addends(np.array([0.0, 0.5])))
    >>> ldexp(first - second, -layout.fraction)
    0.25
    """

    L: float
    S: float
    k: int
    d: int
    slot_bits: SlotBits = 64
    u_bits: int = 0
    u_fraction: int = field(init=False)
    theta_fraction: int = field(init=False)
    arm_fraction: int = field(init=False)

    def __post_init__(self) -> None:
        if self.slot_bits not in MODEL_SLOT_BITS:
            raise InputError(
                f"slot_bits is {self.slot_bits!r}: give 59, 62 or 64, or 96 for near-equal arms"
            )
        if self.u_bits == 0:
            object.__setattr__(self, "u_bits", self.slot_bits // 2)
        if self.u_bits not in range(_LEAST_U_BITS, _MOST_U_BITS + 1):
            raise InputError(
                f"u_bits is {self.u_bits!r}: give {_LEAST_U_BITS} to {_MOST_U_BITS}, or 0 for "
                "half a slot"
            )
        self._check_bounds()
        # The roundings of d coordinates by at most 1/2 each move a vector by sqrt(d)/2 at most.
        rounding = sqrt(self.d) / 2
        u_room = ldexp(1 - 2 * _FLOAT_ERROR, self.u_bits - 1) - 1 - rounding
        theta_room = ldexp(1 - 2 * _FLOAT_ERROR, self.slot_bits - 1 - self.u_bits) - rounding
        object.__setattr__(self, "u_fraction", floor(log2(u_room / (self.L * _SLACK))))
        object.__setattr__(self, "theta_fraction", floor(log2(theta_room / self.S)))
        object.__setattr__(self, "arm_fraction", _ARM_BITS - 1 - floor(log2(self.L)))

    def _check_bounds(self) -> None:
        shape = f"L = {self.L!r}, S = {self.S!r}, K = {self.k!r}, d = {self.d!r}"
        if self.k < 2 or not 1 <= self.d <= LARGEST_DIMENSION:
            raise InputError(
                f"the fixed point does not fit {shape}: give at least two arms, of 1 to "
                f"{LARGEST_DIMENSION} dimensions"
            )
        for bound in (self.L, self.S):
            if not (isfinite(bound) and LEAST_BOUND <= bound <= LARGEST_BOUND):
                raise InputError(
                    f"a slot could overflow with {shape}: the bounds L (of the arms) and S (of "
                    "theta) must lie between 2^-64 and 2^64; rescale the arms or state other bounds"
                )

    @property
    def half(self) -> int:
        """H: no product <u, theta> is beyond it."""
        return (1 << (self.slot_bits - 2)) - 1

    @property
    def fraction(self) -> int:
        """Scores are in units of 2^-fraction."""
        return self.u_fraction + self.theta_fraction

    @property
    def reward_fraction(self) -> int:
        """The exact sum of rewards is in units of 2^-reward_fraction."""
        return self.arm_fraction + self.theta_fraction

    @property
    def resolution(self) -> float:
        """An arm whose <u, theta> + c leads by more than this has the largest score."""
        longest = self.L * _SLACK
        off = ldexp(longest, -self.theta_fraction) + ldexp(self.S, -self.u_fraction)
        off *= sqrt(self.d)
        return off + (self.d + 2) * ldexp(1.0, -self.fraction)

    def theta(self, theta: Floats) -> list[int]:
        """At theta's owner: its coordinates as integers of at most slot_bits - u_bits bits."""
        if theta.shape != (self.d,):
            raise InputError(f"theta has shape {theta.shape}, but arms have {self.d} coordinates")
        if not np.isfinite(theta).all():
            raise InputError("theta holds a number that is not finite: correct it")
        check_norm(theta, self.S, "S")
        fixed = [round(ldexp(value, self.theta_fraction)) for value in theta.tolist()]
        squares = sum(value * value for value in fixed)
        if squares > 1 << 2 * (self.slot_bits - 1 - self.u_bits):
            raise InputError(
                f"a slot could overflow, because theta is longer than S = {self.S:g}: state a "
                "larger S"
            )
        return fixed

    def u(self, u: Floats) -> Integers:
        """The rows of u as signed integers of u_bits bits, refused if one could overflow a slot."""
        if u.shape != (self.k, self.d):
            raise PolicyError(f"u has shape {u.shape} instead of {(self.k, self.d)}")
        fixed = np.rint(np.ldexp(np.clip(u, -4 * self.L, 4 * self.L), self.u_fraction))
        longest = float(np.sqrt(np.square(fixed).sum(axis=1).max()))
        # nan fails the comparison too.
        if not longest <= ldexp(1 - _FLOAT_ERROR, self.u_bits - 1) - 1:
            raise PolicyError(
                f"a slot could overflow: an arm's u is longer than L = {self.L:g} allows (S = "
                f"{self.S:g}, K = {self.k}); gamma may be too small for these arms"
            )
        return fixed.astype(np.int64)

    def addends(self, c: Floats) -> list[int]:
        """What is added to <u, theta> in each slot: max(c - c_max, -2H - 1) + 3H + 1."""
        if c.shape != (self.k,) or not np.isfinite(c).all():
            raise PolicyError(f"c must be {self.k} finite numbers: gamma may be too small")
        # Clipped first, so that nothing leaves the range of floats: 2H + 2 = 2^(w-1).
        with np.errstate(over="ignore"):
            below = c - c.max()
        below = np.maximum(below, -ldexp(1.0, self.slot_bits - 1 - self.fraction))
        return shifted(np.ldexp(below, self.fraction), self.half)

    def scores(self, u: Integers, theta: Sequence[int], addends: Sequence[int]) -> list[int]:
        """The slots' contents, exactly: each in [0, 2^slot_bits - 3]."""
        # 64-bit products and all their partial sums are exact: see the top of this file.
        short = self.slot_bits <= 64
        exact = np.array(theta, dtype=np.int64 if short else object)
        products = (u @ exact if short else u.astype(object) @ exact).tolist()
        return [product + addend for product, addend in zip(products, addends, strict=True)]

    def arms(self, vectors: Floats) -> list[list[int]]:
        """The arms as integers for the sum of rewards; coordinates are at most 2^52."""
        scaled = np.ldexp(vectors, self.arm_fraction)
        if not np.all(np.abs(scaled) <= 2.0**_ARM_BITS):
            raise InputError(f"an arm is longer than L = {self.L:g}: state a larger bound")
        return [[round(value) for value in row] for row in scaled.tolist()]

    def noise(self, noise: float) -> int:
        """Noise as an integer, in the same unit as <theta, arm>."""
        if not abs(noise) <= ldexp(self.L * self.S, _NOISE_BITS):
            raise InputError(
                f"noise is not finite, or 2^32 times as large as L·S = {self.L * self.S:g}: "
                "lower noise_sd or state larger bounds"
            )
        return round(ldexp(noise, self.reward_fraction))

    def largest_total(self, budget: int) -> int:
        """No exact sum of `budget` rewards is beyond this, with either sign.

        |<theta, arm>| <= |theta| |arm| <= 2^(w-1-B) · sqrt(d) 2^52, and L·S in these units is below
        2^(52 + w-1-B) because fractions were rounded down.
        """
        product = 1 << (_ARM_BITS + self.slot_bits - 1 - self.u_bits)
        return budget * product * (floor(sqrt(self.d)) + 1 + (1 << _NOISE_BITS))

    def reward(self, total: int) -> float:
        """An exact sum of rewards in the user's unit, rounded once."""
        return ldexp(float(total), -self.reward_fraction)


def shifted(below: Floats, half: int) -> list[int]:
    """What is added in each slot for c - c_max in the slots' unit: max(·, -2H - 1) + 3H + 1."""
    least, shift = -2 * half - 1, 3 * half + 1
    return [max(int(value), least) + shift for value in np.rint(below).tolist()]

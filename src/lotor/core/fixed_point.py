"""Scores and rewards as integers, so that secure and plain compare literally the same numbers."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError, PolicyError

Floats: TypeAlias = NDArray[np.float64]
Scores: TypeAlias = NDArray[np.int64]

SCORE_FRACTION_BITS = 40
SCORE_BITS = 63
SCORE_LIMIT = 2.0 ** (SCORE_BITS - SCORE_FRACTION_BITS)
_SCORE_SCALE = np.float64(2.0**SCORE_FRACTION_BITS)

REWARD_FRACTION_BITS = 32
REWARD_ONE = 1 << REWARD_FRACTION_BITS
# n·2^32 and every sum of rewards stay within 63 bits.
MAXIMAL_BUDGET = (1 << 31) - 1


def to_float(name: str, value: object) -> float:
    """Any kind of number as a float; otherwise raise an InputError that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} is {value!r}: give a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(
            f"{name} is too large for a floating-point number: give a smaller one"
        ) from None


def to_scores(values: Floats) -> Scores:
    """Round scores to multiples of 2^-40; refuse any that are negative, not finite or above 2^23.

    >>> to_scores(np.array([0.5, 1.0])) / 2**40
    array([0.5, 1. ])
    """
    try:
        # argmin stops at a nan, so that two cheap searches check the whole vector.
        low, high = values.item(values.argmin()), values.item(values.argmax())
        fits = low >= 0.0 and high < SCORE_LIMIT
    except (AttributeError, TypeError, ValueError):
        raise PolicyError(
            "a policy's scores must be a numpy vector with one number for each arm"
        ) from None
    if not fits:
        raise PolicyError(
            f"a score lies outside [0, {SCORE_LIMIT:.0f}) or is not a number: shift the policy's "
            "scores by a constant, which changes no choice, or rescale them"
        )
    scaled = values * _SCORE_SCALE
    return np.rint(scaled, out=scaled).astype(np.int64)


def whole_scores(values: Floats) -> list[int]:
    """What `to_scores` gives, as Python's integers.

    For a single arm numpy takes several times as long as the arithmetic, and rounds the same.
    """
    if getattr(values, "shape", None) == (1,):
        value = values.item(0)
        if type(value) is float and 0.0 <= value < SCORE_LIMIT:
            return [round(value * 2.0**SCORE_FRACTION_BITS)]
    whole: list[int] = to_scores(values).tolist()
    return whole


@dataclass(frozen=True, slots=True)
class RewardScale:
    """The public range of rewards, mapped to integers from 0 to 2^32.

    >>> scale = RewardScale(-10, 10)
    >>> scale.to_fixed(5.0) / REWARD_ONE
    0.75
    >>> scale.total(scale.to_fixed(5.0) + scale.to_fixed(-10.0), pulls=2)
    -5.0
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        # Whole numbers and numpy's become floats, so that all parties write the range alike.
        object.__setattr__(self, "low", to_float("reward_range", self.low))
        object.__setattr__(self, "high", to_float("reward_range", self.high))
        if not (self.low < self.high and isfinite((self.high - self.low) * MAXIMAL_BUDGET)):
            raise InputError(
                f"reward_range ({self.low}, {self.high}) is empty or too wide: "
                "give the lowest and the highest possible reward"
            )

    @classmethod
    def of(cls, reward_range: object) -> "RewardScale":
        """The scale of a pair of numbers."""
        unordered = isinstance(reward_range, str | bytes | Mapping | Set)
        if isinstance(reward_range, Iterable) and not unordered:
            numbers = list(reward_range)
            if len(numbers) == 2 and all(isinstance(bound, Real) for bound in numbers):
                return cls(*numbers)
        raise InputError(
            f"reward_range {reward_range!r} is not a pair of numbers: "
            "give the lowest and the highest possible reward"
        )

    def to_fixed(self, reward: float) -> int:
        if not self.low <= reward <= self.high:
            raise InputError(
                f"a reward lies outside the public reward_range ({self.low}, {self.high}): "
                "widen the range or fix the pull function"
            )
        return round((reward - self.low) / (self.high - self.low) * REWARD_ONE)

    def total(self, fixed: int, pulls: int) -> float:
        """A sum of `pulls` fixed-point rewards in the user's unit."""
        return pulls * self.low + (self.high - self.low) * (fixed / REWARD_ONE)

"""Numbers of the ring Z/2^64, and fixed point in it."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats

Words: TypeAlias = NDArray[np.uint64]
"""Elements of Z/2^64; as signed numbers they are in two's complement."""

Shorts: TypeAlias = NDArray[np.uint16]
"""Elements of Z/2^16."""

Bits: TypeAlias = NDArray[np.unsignedinteger]
"""Words of any width whose bits are values of their own."""


def to_words(numbers: Floats, bits: int) -> Words:
    """Fixed point with this many bits behind the point, rounded to the nearest.

    >>> to_words(np.array([0.75, -0.25]), 2).view(np.int64).tolist()
    [3, -1]
    """
    with np.errstate(over="ignore"):  # refused below
        scaled = np.rint(np.asarray(numbers, dtype=np.float64) * 2.0**bits)
    # nan fails the comparison too.
    if not np.all(np.abs(scaled) < 2.0**63):
        raise InputError(
            f"a number is not finite, or too large for {bits} bits behind the point in 64: "
            "rescale it, or take fewer bits"
        )
    return scaled.astype(np.int64).view(np.uint64)


def to_floats(words: Words, bits: int) -> Floats:
    """The numbers that fixed point stands for."""
    return words.view(np.int64).astype(np.float64) * 2.0**-bits


def constant(number: float, bits: int) -> int:
    """One number in fixed point, as an element of the ring."""
    return round(number * (1 << bits)) % (1 << 64)

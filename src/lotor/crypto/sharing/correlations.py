"""What secrets a circuit wants shares of: as data, so that it can be dealt or made by two servers.

Each names secrets by their numbers in the circuit. A dealer, who knows all values, calls it with
them. Two servers without a dealer make shares of it by transfers (`supply.py`), modulo 2^`ring`,
which is 64 for a dealer.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import CryptoError
from lotor.crypto.sharing.words import Bits


class Product(NamedTuple):
    """Of two secrets, element by element; shapes are broadcast."""

    left: int
    right: int
    width: int
    """How many bytes of each product count."""
    ring: int = 64

    def __call__(self, values: Sequence[Bits]) -> Bits:
        made: Bits = values[self.left] * values[self.right]
        return made.astype(f"u{self.width}", copy=False)


class Contraction(NamedTuple):
    """Of a matrix, or a stack of them, or a vector, with a vector."""

    matrix: int
    vector: int
    shape: tuple[int, ...]
    ring: int = 64

    def __call__(self, values: Sequence[Bits]) -> Bits:
        made: Bits = values[self.matrix] @ values[self.vector]
        return made.reshape(self.shape)


class UpperOuter(NamedTuple):
    """The upper half of the outer product of two vectors, row by row."""

    left: int
    right: int
    ring: int = 64

    def __call__(self, values: Sequence[Bits]) -> Bits:
        left, right = values[self.left], values[self.right]
        rows, columns = upper_half(len(left))
        made: Bits = left[rows] * right[columns]
        return made


class BitWord(NamedTuple):
    """Bits that are shared by XOR, in the lowest places of bytes, as the numbers 0 and 1."""

    bits: int

    def __call__(self, values: Sequence[Bits]) -> Bits:
        return (values[self.bits] & np.uint8(1)).astype(np.uint64)


class BitPair(NamedTuple):
    """Of each server's own bits, in the lowest places of bytes, those that both have, as numbers.

    Only two servers without a dealer ask for it: a dealer has the XOR of such bits.
    """

    bits: int

    def __call__(self, values: Sequence[Bits]) -> Bits:  # noqa: ARG002
        raise CryptoError(
            "a dealer cannot deal what depends on each server's own bits: let the servers make it, "
            "or use a circuit that does without"
        )


Correlation: TypeAlias = Product | Contraction | UpperOuter | BitWord | BitPair


@lru_cache(maxsize=16)
def upper_half(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix's upper half."""
    rows, columns = np.triu_indices(n)
    return rows, columns

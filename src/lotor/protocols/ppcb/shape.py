"""The sizes of a step, and what its circuits are handed and hand back."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing import Bits, Masked, Shared, Words, constant

# Behind the point of A⁻¹, u and k, whatever the other numbers have: they shrink as 1/n, while n
# roundings leave some sqrt(n)/10 units in A⁻¹ (terms.py says what follows).
INNER_BITS = 28


@dataclass(frozen=True, slots=True)
class Shape:
    """What is public about every step.

    `threshold` of 2^64 coins explore; `bits` are those behind the point.
    """

    arms: int
    features: int
    bits: int
    threshold: int

    @property
    def rank_bits(self) -> int:
        """Room below a score for what decides between equal ones."""
        return (self.arms - 1).bit_length()

    @property
    def entries(self) -> int:
        """Of the upper half of a symmetric matrix."""
        return self.features * (self.features + 1) // 2


@dataclass(slots=True)
class Weights:
    """A server's shares of what was learnt: w of each arm, and A⁻¹ (line 3)."""

    vectors: Shared
    inverses: Shared

    @classmethod
    def initial(cls, shape: Shape, ridge: float, *, first: bool) -> "Weights":
        """Lines 1 and 2: A = ridge·I and w = 0, which is public."""
        rows, columns, _ = triangle(shape.features)
        unit = np.where(rows == columns, constant(1 / ridge, INNER_BITS), 0).astype(np.uint64)
        inverses = np.tile(unit, (shape.arms, 1))
        return cls(
            Shared(np.zeros((shape.arms, shape.features), np.uint64), first=first),
            Shared(inverses if first else np.zeros_like(inverses), first=first),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Chance:
    """What one server contributes to lines 8 and 12, unknown to the other and to the dealer."""

    coin: Words
    turn: Bits
    ranks: Words

    @classmethod
    def none(cls, shape: Shape) -> "Chance":
        return cls(
            np.zeros(1, np.uint64), np.zeros(shape.arms, np.uint8), np.zeros(shape.arms, np.uint64)
        )


@dataclass(frozen=True, slots=True)
class Selected:
    """Of the arm that was chosen: u, its predicted reward s, and g = 1 / (1 + x·u)."""

    u: Shared
    s: Shared
    g: Shared


@dataclass(frozen=True, slots=True)
class Gains:
    """u, s and g of every arm, as masked values."""

    u: Masked
    s: Masked
    g: Masked


@lru_cache(maxsize=16)
def triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix's upper half, and where each entry of the whole is in it."""
    rows, columns = np.triu_indices(n)
    whole = np.zeros((n, n), np.intp)
    whole[rows, columns] = whole[columns, rows] = np.arange(len(rows))
    return rows, columns, whole


@lru_cache(maxsize=16)
def rotations(k: int) -> NDArray[np.intp]:
    """Row a has (a - i) mod k at i: whose turns add up to a."""
    return np.subtract.outer(np.arange(k), np.arange(k)) % k

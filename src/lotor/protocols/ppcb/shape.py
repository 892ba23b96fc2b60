"""The sizes of a step, and what its circuits take and return."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing import Bits, Shared, SharedBits, Words, constant
from lotor.protocols.contextual_draws import ServerDraws

# Behind the point of u, g and k, whatever the other numbers have: u and k shrink as 1/n.
INNER_BITS = 28

# No score of a run reaches 2^9: the same for all runs, so that a plan may rehearse shorter ones.
WHOLE_BITS = 9

# How far the square of a context's length may exceed 1, for what fixed point rounds.
SLACK = 2.0**-8

TOO_LONG = (
    "the features of all parties together are longer than 1 as a vector: scale them so that no "
    "context can be longer"
)


@dataclass(frozen=True, slots=True)
class StepShape:
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
    def whole_bits(self) -> int:
        """Bits before the point of any score: enough for the longest run, or all that are there."""
        return min(WHOLE_BITS, 62 - 2 * self.bits - self.rank_bits)

    @property
    def score_ring(self) -> int:
        """Bits of the ring of w·x, of which as many must be right as are compared."""
        return self.whole_bits + 2 * self.bits + 3

    @property
    def score_bits(self) -> int:
        """Of a score, its sign and what decides between equal ones."""
        return 1 + self.whole_bits + 2 * self.bits + self.rank_bits

    @property
    def entries(self) -> int:
        """Of the upper half of a symmetric matrix."""
        return self.features * (self.features + 1) // 2

    # Without a dealer a bit less in a ring is a transfer less for each product. Numbers below 2
    # leave the two highest bits free: `PPCBTerms` checks that they are no larger.

    @property
    def inverse_ring(self) -> int:
        """Bits of the ring of A⁻¹, which has twice INNER_BITS behind the point."""
        return 2 * INNER_BITS + 3

    @property
    def vector_ring(self) -> int:
        """Bits of the ring of A⁻¹x and x·u, which have INNER_BITS and a context's behind it."""
        return INNER_BITS + self.bits + 3


@dataclass(slots=True)
class Weights:
    """A server's shares of what was learnt (line 3): a row for each arm.

    It has the upper half of A⁻¹, with twice INNER_BITS behind the point, and then w, with
    INNER_BITS more than a score's factors: what is added to them is never rounded, only what is
    taken out in each step. A⁻¹ is at most 1/ridge <= 1 and so are u, g and k, but for SLACK: their
    products stay below 2^57, and `PPCBTerms` checks that w stays below 2^62.
    """

    table: Shared

    @classmethod
    def initial(cls, shape: StepShape, ridge: float, *, first: bool) -> "Weights":
        """Lines 1 and 2: A = ridge·I and w = 0, which is public."""
        table = np.zeros((shape.arms, shape.entries + shape.features), np.uint64)
        if first:
            rows, columns, _ = triangle(shape.features)
            table[:, np.flatnonzero(rows == columns)] = constant(1 / ridge, 2 * INNER_BITS)
        return cls(Shared(table, first=first))


@dataclass(frozen=True, slots=True, repr=False)
class Chance:
    """What one server contributes to lines 8 and 12; the other and the dealer do not know it."""

    coin: Words
    turn: int
    ranks: Words

    @classmethod
    def drawn(cls, draws: ServerDraws, step: int) -> "Chance":
        ranks = draws.order(step).astype(np.uint64)
        return cls(np.array([draws.coin(step)], np.uint64), draws.turn(step), ranks)

    @classmethod
    def none(cls, shape: StepShape) -> "Chance":
        return cls(np.zeros(1, np.uint64), 0, np.zeros(shape.arms, np.uint64))


@dataclass(frozen=True, slots=True)
class Gains:
    """Of each arm, what learning from it would need: k uᵀ (its upper half), k, and w·x."""

    outer: Shared
    k: Shared
    s: Shared

    @classmethod
    def none(cls, shape: StepShape) -> "Gains":
        arms = shape.arms
        return cls(zeros(arms, shape.entries), zeros(arms, shape.features), zeros(arms, 1))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A step's context, its arm as a one-hot vector, and what learning from it will need.

    The gains are None where the reward comes steps later: weights will have changed by then.
    """

    x: Shared
    one_hot: SharedBits
    gains: Gains | None


def words_in(data: bytes, *shape: int, first: bool) -> Shared:
    """A server's share from what it has written down."""
    words: Words = np.frombuffer(data, np.uint64)
    return Shared(words.reshape(shape), first=first)


def zeros(*shape: int) -> Shared:
    """Shares to trace a circuit with."""
    return Shared(np.zeros(shape, np.uint64), first=False)


@lru_cache(maxsize=16)
def triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix's upper half, and where each entry of the whole is in it."""
    rows, columns = np.triu_indices(n)
    whole = np.zeros((n, n), np.intp)
    whole[rows, columns] = whole[columns, rows] = np.arange(len(rows))
    return rows, columns, whole


@lru_cache(maxsize=16)
def whole_rows(n: int) -> NDArray[np.intp]:
    """Where in a row of weights the matrix A⁻¹ is, and below it w."""
    rows, _, whole = triangle(n)
    return np.vstack([whole, len(rows) + np.arange(n)])


@lru_cache(maxsize=16)
def picked(k: int) -> Bits:
    """Whether an arm is taken, by `lost + (k + 1)·explores + k·turn`.

    Of k arms, `lost` larger scores, whether the step explores, and whether it is this one's turn:
    no two cases with different answers have the same sum.
    """
    values = np.zeros(1 << (3 * k).bit_length(), np.uint8)
    values[[0, k]] = 1  # no score is larger
    values[2 * k + 1 : 3 * k + 1] = 1  # explores, and in turn
    return values

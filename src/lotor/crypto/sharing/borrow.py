"""The last round of a comparison: from what is known of all digits to the result, as a number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import BYTE, SHORT, Compute, Engine
from lotor.crypto.sharing.lookup import read
from lotor.crypto.sharing.shares import Tally
from lotor.crypto.sharing.words import Bits, Shorts, Words

_SIGN = np.uint64(63)

# What follows from the borrow and the highest bits of c and r: with the borrow they give the sign
# of c - r; or c XOR r is a coin, which is below a threshold whose highest bit is 0, or 1; or it
# always is.
NUMBER, LOW_COIN, HIGH_COIN, ANY_COIN = range(0, 8, 2)


def _followed(less: Bits) -> list[Bits]:
    """For each of these, r's highest bit and c's: the result."""
    ones, zeros = np.ones_like(less), np.zeros_like(less)
    return [
        *(less, 1 - less, 1 - less, less),
        *(less, zeros, zeros, less),
        *(ones, less, less, ones),
        *(ones, ones, ones, ones),
    ]


@dataclass(frozen=True)
class BorrowTables:
    """By the state of some bits: whether a borrow comes from them (`less`), and what to deal."""

    less: Bits
    rows: Shorts

    @classmethod
    def of(cls, less: Bits) -> "BorrowTables":
        size = len(less)
        states = np.arange(size)
        unmasked = states[:, None] ^ states
        by_kind = np.stack(_followed(less)).reshape(8, 2, size)  # kind and r's bit; c's bit; state
        rows = by_kind[:, :, unmasked].swapaxes(1, 2)  # … r's bit; mask; c's bit; opened
        return cls(less, rows.reshape(8 * size, 2 * size).astype(np.uint16))


def concluded(
    engine: Engine, last: BorrowTables, state: Bits, c: Words, kinds: Compute
) -> Circuit[Tally]:
    """The results, for states that are shared by XOR.

    `kinds` says what follows for each, with r's highest bit; only the dealer knows it.
    """
    size = len(last.less)
    m = engine.uniform(state.shape, BYTE, xor=True)
    n, within = m.number, np.uint8(size - 1)

    def dealt(v: Sequence[Bits]) -> Bits:
        rows: NDArray[np.intp] = kinds(v).astype(np.intp) * size + (v[n] & within)
        return last.rows.take(rows, axis=0)

    table = engine.dealt(dealt, (*state.shape, 2 * size), SHORT, xor=False)
    (opened,) = yield [OpeningShare(state ^ m.share, xor=True)]
    index = (c >> _SIGN).astype(np.intp) * size + (opened & within)
    return Tally(read(table, index), first=engine.first)

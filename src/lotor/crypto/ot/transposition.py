"""128 columns of bits as rows of 128 bits."""

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.ot.delta import Labels

# An 8 x 8 matrix of bits in a word is transposed by exchanging bits in three steps
# (Warren, Hacker's Delight, 7-3): by how much they move, and which do.
_STEPS = (
    (np.uint64(7), np.uint64(0x00AA00AA00AA00AA)),
    (np.uint64(14), np.uint64(0x0000CCCC0000CCCC)),
    (np.uint64(28), np.uint64(0x00000000F0F0F0F0)),
)


def transposed(columns: NDArray[np.uint8]) -> Labels:
    """(128, m) bytes to (8 m, 2) words: bit j of row i is bit i of column j, lowest bits first.

    >>> columns = np.zeros((128, 1), np.uint8)
    >>> columns[3], columns[64] = 0b1, 0b10
    >>> transposed(columns)[:3].tolist()
    [[8, 0], [0, 1], [0, 0]]
    """
    size = columns.shape[1]
    blocks = columns.reshape(16, 8, size).transpose(2, 0, 1).copy()
    words = blocks.view(np.uint64).reshape(size, 16)
    moves = np.empty_like(words)
    for shift, mask in _STEPS:
        np.right_shift(words, shift, out=moves)
        moves ^= words
        moves &= mask
        words ^= moves
        moves <<= shift
        words ^= moves
    rows = words.view(np.uint8).reshape(size, 16, 8).transpose(0, 2, 1)
    return np.ascontiguousarray(rows).view(np.uint64).reshape(8 * size, 2)

"""128 columns of bits as rows of 128 bits."""

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.ot.delta import Labels

# Eight bytes of eight columns are 8 x 8 matrices of bits, side by side. They are transposed in
# three steps (Warren, Hacker's Delight, 7-3): columns that are so far apart exchange bits, the one
# those that are not in the mask for the other's that are.
_STEPS = (
    (1, np.uint64(1), np.uint64(0x5555555555555555)),
    (2, np.uint64(2), np.uint64(0x3333333333333333)),
    (4, np.uint64(4), np.uint64(0x0F0F0F0F0F0F0F0F)),
)


def transposed(columns: NDArray[np.uint8]) -> Labels:
    """(128, m) bytes to (8 m, 2) words: bit j of row i is bit i of column j, lowest bits first.

    >>> columns = np.zeros((128, 1), np.uint8)
    >>> columns[3], columns[64] = 0b1, 0b10
    >>> transposed(columns)[:3].tolist()
    [[8, 0], [0, 1], [0, 0]]
    """
    size = columns.shape[1]
    length = -(-size // 8)
    octets = np.zeros((128, 8 * length), np.uint8)
    octets[:, :size] = columns
    words, moves = octets.view(np.uint64), np.empty(64 * length, np.uint64)
    for distance, shift, mask in _STEPS:
        pairs = words.reshape(-1, 2, distance * length)
        lower, upper, moved = pairs[:, 0], pairs[:, 1], moves.reshape(-1, distance * length)
        np.right_shift(lower, shift, out=moved)
        moved ^= upper
        moved &= mask
        upper ^= moved
        moved <<= shift
        lower ^= moved
    rows = octets.reshape(16, 8, 8 * length)[:, :, :size].transpose(2, 1, 0)
    return np.ascontiguousarray(rows).view(np.uint64).reshape(8 * size, 2)

"""Public tables, read in a row that nobody sees."""

from collections.abc import Sequence
from math import prod

import numpy as np

from lotor.crypto.garbling.arithmetic import constant
from lotor.crypto.garbling.gates import Gates, Pair, Wires


def decoded(gates: Gates, index: Wires, count: int) -> Wires:
    """One-hot, `count` rows: 1 in the row whose number the index is.

    The index must be below the count. One AND gate for each row, and a few more.
    """
    bits = (count - 1).bit_length()
    if bits == 0:
        return gates.inverted(np.zeros_like(index[:1]))
    hot = [np.concatenate([gates.inverted(bit), bit]) for bit in _rows(index[:bits])]
    while len(hot) > 1:
        # The first round leaves a power of two, so that both groups of the last one are small.
        alone = (1 << (len(hot) - 1).bit_length()) - len(hot)
        pairs = []
        for i in range(alone, len(hot), 2):
            needed = -(-count // prod(map(len, hot[:i])))
            pairs.append(_outer(hot[i], hot[i + 1], needed))
        hot = [*hot[:alone], *gates.both(*pairs)]
    return hot[0]


def looked_up(gates: Gates, hot: Wires, numbers: Sequence[int], width: int) -> Wires:
    """The lowest bits of the number in the hot row: XORs alone."""
    ones = [{row for row, number in enumerate(numbers) if number >> k & 1} for k in range(width)]
    # A bit that most numbers have is 1 but in the other rows, and those are fewer.
    common = [2 * len(rows) > len(numbers) for rows in ones]
    every = set(range(len(numbers)))
    few = [every - rows if most else rows for rows, most in zip(ones, common, strict=True)]
    longest = max(1, *map(len, few))
    nothing = len(numbers)
    terms = np.array([[*sorted(rows), *[nothing] * (longest - len(rows))] for rows in few])
    made = np.concatenate([hot, np.zeros_like(hot[:1])]).take(terms.T.ravel(), axis=0)
    while len(made) > width:
        half = len(made) // width // 2 * width
        made = np.concatenate([made[:half] ^ made[half : 2 * half], made[2 * half :]])
    return made ^ constant(gates, sum(1 << k for k in range(width) if common[k]), made)


def _rows(x: Wires) -> list[Wires]:
    return [x[i : i + 1] for i in range(len(x))]


def _outer(low: Wires, high: Wires, needed: int) -> Pair:
    """Each row of one with each of the other: the first ones of them."""
    rows = np.arange(min(len(low) * len(high), needed))
    return high.take(rows // len(low), axis=0), low.take(rows % len(low), axis=0)

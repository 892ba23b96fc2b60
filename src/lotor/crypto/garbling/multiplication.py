"""Sums of products: all bits of all summands are gathered by weight, and added together.

Three bits of one weight become one of this weight and one of the next, with one AND gate. That is
done everywhere at once, until no weight has more than two bits (Wallace, 1964), and only the sum of
these last two numbers needs carries.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling.arithmetic import add
from lotor.crypto.garbling.gates import Gates, Wires


class Summands(NamedTuple):
    """Rows of wires, each of which counts 2^weight."""

    wires: Wires
    weights: NDArray[np.intp]


def shifted(x: Wires, by: int = 0) -> Summands:
    """x · 2^by."""
    return Summands(x, np.arange(by, by + len(x)))


def products(gates: Gates, x: Wires, y: Wires, dropped: int = 0) -> Summands:
    """x · y / 2^dropped, both unsigned, without the products of bits that would count less than 1.

    These are missing even if they add up to more: `mean_dropped` says by how much.
    """
    i, j = (each.ravel() for each in np.indices((len(x), len(y))))
    kept = i + j >= dropped
    (wires,) = gates.both((x.take(i[kept], axis=0), y.take(j[kept], axis=0)))
    return Summands(wires, (i + j)[kept] - dropped)


def mean_dropped(dropped: int) -> Fraction:
    """What `products` leaves out on average, if both factors have so many random bits, or more.

    >>> mean_dropped(2)  # a bit of weight 1/4 and two of weight 1/2, each 1 in a quarter of cases
    Fraction(5, 16)
    """
    return Fraction(sum((k + 1) << k for k in range(dropped)), 4 << dropped)


def summed(gates: Gates, width: int, *parts: Summands) -> Wires:
    """The sum of all parts modulo 2^width."""
    wires = np.concatenate([part.wires for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    while True:
        columns = [np.flatnonzero(weights == weight) for weight in range(width)]
        if max(map(len, columns)) < 3:
            return _sum_of_pairs(gates, wires, columns)
        threes = np.concatenate([column[: len(column) // 3 * 3] for column in columns])
        rest = np.concatenate([column[len(column) // 3 * 3 :] for column in columns])
        one, two, three = (wires.take(threes[i::3], axis=0) for i in range(3))
        differ = one ^ three
        (carry,) = gates.both((differ, two ^ three))
        carry ^= three
        wires = np.concatenate([two ^ differ, carry, wires.take(rest, axis=0)])
        weight = weights[threes[::3]]
        weights = np.concatenate([weight, weight + 1, weights[rest]])


def _sum_of_pairs(gates: Gates, wires: Wires, columns: list[NDArray[np.intp]]) -> Wires:
    """The sum of bits, of which there are none, one or two in each column."""
    nothing = len(wires)
    rows = np.array([[*column, nothing, nothing][:2] for column in columns])
    wires = np.concatenate([wires, np.zeros_like(wires[:1])])
    return add(gates, wires.take(rows[:, 0], axis=0), wires.take(rows[:, 1], axis=0))

"""Comparing numbers, and choosing between them."""

import numpy as np

from lotor.crypto.garbling.gates import Gates, Wires

# From so many numbers side by side on, a comparison goes bit by bit: 63 AND gates on 63 levels
# instead of 120 on 6. On one machine that takes a few percent more time up to some 300 numbers, but
# tables go over a network, too, and are 1.8 kB smaller for each number.
RIPPLE = 100


def greater(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x > y for each place, as one row: the highest bit where they differ decides."""
    return decided(gates, x, gates.inverted(x ^ y))


def less(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x < y for each place, as one row."""
    return greater(gates, y, x)


def decided(gates: Gates, x: Wires, equal: Wires, below: Wires | None = None) -> Wires:
    """x's bit at the highest place where `equal` is 0, and if there is none what lies below (0)."""
    below = np.zeros_like(x[:1]) if below is None else below
    return (_bit_by_bit if x.shape[1] >= RIPPLE else _in_pairs)(gates, below, x, equal)


def _bit_by_bit(gates: Gates, below: Wires, x: Wires, equal: Wires) -> Wires:
    """A bit counts, unless it is equal, then what was found below it does."""
    for i in range(len(x)):
        bit = x[i : i + 1]
        (change,) = gates.both((equal[i : i + 1], bit ^ below))
        change ^= bit
        below = change
    return below


def _in_pairs(gates: Gates, below: Wires, x: Wires, equal: Wires) -> Wires:
    """Of two neighbours the upper one counts, unless it is equal, then the lower one.

    Both together are equal if each of them is; what lies below the lowest bit never needs to be.
    """
    x = np.concatenate([below, x])
    while len(x) > 1:
        even = len(x) // 2 * 2
        lower, upper = x[0:even:2], x[1:even:2]
        high, low = equal[0:even:2], equal[1 : even - 1 : 2]
        pairs = [(high, upper ^ lower), (high[1:], low)]
        change, *united = gates.both(*pairs[: 2 if len(low) else 1])
        change ^= upper
        alone = len(x) - even
        x = np.concatenate([change, x[even:]]) if alone else change
        equal = np.concatenate([*united, equal[even - 1 :]]) if alone or not united else united[0]
    return x


def equal(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x = y for each place, as one row."""
    same = gates.inverted(x ^ y)
    while len(same) > 1:
        pairs = len(same) // 2
        (united,) = gates.both((same[:pairs], same[pairs : 2 * pairs]))
        same = np.concatenate([united, same[2 * pairs :]])
    return same


def select(gates: Gates, bit: Wires, x: Wires, y: Wires) -> Wires:
    """y where the bit is 1, else x; the bit is one row."""
    (change,) = gates.both((bit, x ^ y))
    return x ^ change

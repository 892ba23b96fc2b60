"""Comparing numbers, and choosing between them."""

import numpy as np

from lotor.crypto.garbling.gates import Gates, Wires

# From so many numbers side by side on, a comparison goes bit by bit: 63 AND gates on 63 levels
# instead of 120 on 6. A level costs as much time as some 200 gates, by benchmarks/garbling.py.
RIPPLE = 200


def greater(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x > y for each place, as one row: the highest bit where they differ decides."""
    return decided(gates, x, gates.inverted(x ^ y))


def less(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x < y for each place, as one row."""
    return greater(gates, y, x)


def decided(gates: Gates, x: Wires, equal: Wires) -> Wires:
    """x's bit at the highest place where `equal` is 0, and 0 if there is none.

    A 0 stands below the lowest bit. Of two neighbours it is the upper bit that counts, unless it is
    equal, then the lower one; both together are equal if each of them is.
    """
    x = np.concatenate([np.zeros_like(x[:1]), x])
    while len(x) > 1 and x.shape[1] < RIPPLE:
        pairs = len(x) // 2
        lower, upper, alone = x[0 : 2 * pairs : 2], x[1 : 2 * pairs : 2], x[2 * pairs :]
        high, low = equal[0 : 2 * pairs : 2], equal[1 : 2 * pairs - 1 : 2]
        if pairs == 1:
            (change,) = gates.both((high, upper ^ lower))
            equal = equal[1:]
        else:
            change, united = gates.both((high, upper ^ lower), (high[1:], low))
            equal = np.concatenate([united, equal[2 * pairs - 1 :]]) if len(alone) else united
        x = np.concatenate([upper ^ change, alone]) if len(alone) else upper ^ change
    result = x[:1]
    for bit, same in zip(x[1:, np.newaxis], equal[:, np.newaxis], strict=True):
        (change,) = gates.both((same, bit ^ result))
        result = bit ^ change
    return result


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

"""The square root, digit by digit, without restoring remainders.

After each digit the remainder r may be negative, and the next step mends it: with q the digits so
far and D the next two bits, 4r + D - (4q + 1) is the next remainder if r is not negative, and
4r + D + (4q + 3) if it is; the next digit is 1 if that is not negative. In two's complement both
add a number that ends in 11, above which q is, inverted where the last digit was 1: one sum for
each digit, and no choice (Li and Chu, "A new non-restoring square root algorithm", 1996).
"""

import numpy as np

from lotor.crypto.garbling.arithmetic import carries
from lotor.crypto.garbling.comparison import decided
from lotor.crypto.garbling.gates import Gates, Wires


def square_root(gates: Gates, x: Wires) -> Wires:
    """The whole part of the root of each number, of half as many bits (rounded up)."""
    if len(x) % 2:
        x = np.concatenate([x, np.zeros_like(x[:1])])
    low, high = gates.inverted(x[0::2]), x[1::2]
    # D + 3 is D - 1 and a carry, unless D is 0.
    ends = np.concatenate([low, high ^ low])
    (none,) = gates.both((low, gates.inverted(high)))
    carry = gates.inverted(none)
    root = carry[-1:]
    if len(low) == 1:
        return root
    rest = _before(ends, len(low) - 1, gates.inverted(root))
    for i in range(len(low) - 2, -1, -1):
        digits = len(root)
        summand = np.concatenate([root ^ root[:1], root[:1]])
        known = rest[: digits + 1]
        total = known ^ summand
        if i == 0:
            into = decided(gates, known[:-1], total[:-1], carry[:1])
            return np.concatenate([gates.inverted(total[-1:] ^ into), root])
        into = carries(gates, np.concatenate([carry[i : i + 1], known[:-1]]), total[:-1])
        total = total ^ into
        root = np.concatenate([gates.inverted(total[-1:]), root])
        rest = _before(ends, i, total)
    return root


def _before(ends: Wires, i: int, total: Wires) -> Wires:
    """The two last bits of a remainder, and those above."""
    return np.concatenate([ends[i :: len(ends) // 2], total])

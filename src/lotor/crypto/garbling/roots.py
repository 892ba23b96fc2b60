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
    count = len(low)
    # D + 3 is D - 1 and a carry, unless D is 0.
    (none,) = gates.both((low, gates.inverted(high)))
    carry = gates.inverted(none)
    if count == 1:
        return carry
    # What lies below a sum: D - 1, and below that the carry into the next sum.
    below = np.concatenate([carry[-1:], carry[:-1], low, high ^ low])
    digits = np.concatenate([carry[-1:], np.zeros_like(carry[:1])])
    rest = np.concatenate([below[count - 1 :: count], gates.inverted(digits[:1])])
    for i in range(count - 2, 0, -1):
        total = _differing(digits, rest)
        total = total ^ carries(gates, rest[: len(digits)], total[:-1])
        digits = np.concatenate([gates.inverted(total[-1:]), digits])
        rest = np.concatenate([below[i::count], total])
    total = _differing(digits, rest)
    sign = total[-1:] ^ decided(gates, rest[1 : len(digits)], total[:-1], rest[:1])
    return np.concatenate([gates.inverted(sign), digits[:-1]])


def _differing(digits: Wires, rest: Wires) -> Wires:
    """Where both summands differ: the digits, with a 0 above them, are inverted by the last one."""
    return digits ^ digits[:1] ^ rest[1 : len(digits) + 1]

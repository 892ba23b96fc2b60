"""Adding and subtracting: modulo 2^k, with a carry, and modulo a number.

Of many numbers side by side, sums go bit by bit, with one AND gate each (Kolesnikov, Sadeghi and
Schneider, 2009); of few, carries go up and down a tree, with three (Brent and Kung, 1982).
"""

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.comparison import decided, select
from lotor.crypto.garbling.gates import Gates, Wires

# A tree has fewer levels and more AND gates: it pays if each level saved costs fewer than so many.
# Of K sums of 59 bits, with their argmax, garbled 16 at once and evaluated one by one, by both:
#   K = 2: bit by bit 228 gates on 64 levels, 0.37 ms; in a tree 424 on 16, 0.14 ms
#   K = 15: 3218 on 88, 0.73 ms; in a tree 4688 on 40, 0.57 ms
#   K = 25: 5518 on 96, 1.0 ms; in a tree 7968 on 48, 1.0 ms
#   K = 50: 11268 on 104, 1.5 ms; in a tree 16168 on 56, 1.7 ms
# Both parties must choose alike: tables depend on it.
LEVEL = 50


def add(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x + y modulo 2^k, where both have k bits."""
    return _sum(gates, x, y, np.zeros_like(x[:1]), carry_out=False)


def add_with_carry(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x + y, with one bit more."""
    return _sum(gates, x, y, np.zeros_like(x[:1]), carry_out=True)


def subtract(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x - y modulo 2^k: the sum of x, of y inverted and of 1."""
    one = gates.inverted(np.zeros_like(x[:1]))
    return _sum(gates, x, gates.inverted(y), one, carry_out=False)


def subtract_with_borrow(gates: Gates, x: Wires, y: Wires) -> Wires:
    """x - y modulo 2^(k + 1): the highest bit says that x < y."""
    one = gates.inverted(np.zeros_like(x[:1]))
    whole = _sum(gates, x, gates.inverted(y), one, carry_out=True)
    return np.concatenate([whole[:-1], gates.inverted(whole[-1:])])


def add_if(gates: Gates, bit: Wires, x: Wires, y: Wires) -> Wires:
    """x + y modulo 2^k where the bit is 1, else x; the bit is one row."""
    (term,) = gates.both((bit, y))
    return add(gates, x, term)


def add_modulo(gates: Gates, x: Wires, y: Wires, modulus: int) -> Wires:
    """x + y modulo a public number, where both are below it: less the modulus, if that fits."""
    total = add_with_carry(gates, x, y)
    rest = subtract_with_borrow(gates, total, constant(gates, modulus, total))
    return select(gates, rest[-1:], rest[: len(x)], total[: len(x)])


def rebuilt(gates: Gates, x: Wires, y: Wires, y_less: Wires, width: int) -> Wires:
    """The lowest `width` bits of x + y modulo P, where x and y are below P, all of k bits.

    Whoever gives y also gives y_less, that is y - P modulo 2^k: if x + y_less carries, x + y is
    at least P, and y_less is what must be added to x. The bits of P take no gate.
    """
    fits = decided(gates, x, x ^ y_less)
    return add(gates, x[:width], select(gates, fits, y[:width], y_less[:width]))


def subtract_modulo(gates: Gates, x: Wires, y: Wires, modulus: int) -> Wires:
    """x - y modulo a public number, where both are below it: plus the modulus, if negative."""
    difference = subtract_with_borrow(gates, x, y)
    return add(gates, difference[:-1], _times(difference[-1:], modulus, len(x)))


def constant(gates: Gates, number: int, like: Wires) -> Wires:
    """A public number on as many wires as others have."""
    return _times(gates.inverted(np.zeros_like(like[:1])), number, len(like))


def _times(bit: Wires, number: int, bits: int) -> Wires:
    """A public number where the bit is 1, else 0: no gate at all."""
    if not 0 <= number < 1 << bits:
        raise InputError(f"{number} does not fit in {bits} bits")
    zero = np.zeros_like(bit)
    return np.concatenate([bit if number >> i & 1 else zero for i in range(bits)])


def _sum(gates: Gates, x: Wires, y: Wires, carry: Wires, *, carry_out: bool) -> Wires:
    total = x ^ y
    carried = len(x) if carry_out else len(x) - 1
    into = carries(gates, np.concatenate([carry, x[:carried]]), total[:carried])
    if not carry_out:
        return total ^ into
    return np.concatenate([total ^ into[:-1], into[-1:]])


def carries(gates: Gates, x: Wires, through: Wires) -> Wires:
    """The carry into each bit of a sum, and out of the last one: as many rows as x has.

    The first row of x is the carry into the sum, the others are the bits of one summand. A carry
    goes through a bit where both summands differ; where they are equal, either is the next carry.
    """
    count = len(x)
    saved, added = (count - 4) / 2, x.shape[1] * (count - 2)
    if count <= 4 or added >= LEVEL * saved:
        return _bit_by_bit(gates, x, through)
    # Wires that lie side by side are much faster to add: two takes cost less than strides do.
    lower = x.take(np.arange(0, count, 2), axis=0)
    upper = x.take(np.arange(1, count, 2), axis=0)
    pairs, above = len(upper), lower[1:]
    high, low = through[0::2][:pairs], through[1::2]
    change, united = gates.both((high, upper ^ lower[:pairs]), (high[1:], low[: pairs - 1]))
    change ^= upper
    odd = carries(gates, change, united)
    (change,) = gates.both((low, above ^ odd[: len(above)]))
    change ^= above
    made = np.zeros_like(x)
    made[:1], made[1::2], made[2::2] = x[:1], odd, change
    return made


def _bit_by_bit(gates: Gates, x: Wires, through: Wires) -> Wires:
    carry = x[:1]
    rows = [carry]
    for i in range(len(through)):
        bit = x[i + 1 : i + 2]
        (change,) = gates.both((through[i : i + 1], bit ^ carry))
        change ^= bit
        carry = change
        rows.append(carry)
    return np.concatenate(rows)

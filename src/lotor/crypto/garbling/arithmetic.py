"""Adding and subtracting: modulo 2^k, with a carry, and modulo a number.

Sums go bit by bit, with one AND gate each (Kolesnikov, Sadeghi and Schneider, 2009).
"""

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.comparison import select
from lotor.crypto.garbling.gates import Gates, Wires


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
    """The next carry is this one, unless both bits differ from it."""
    total = x ^ y
    bits = len(x)
    rows = []
    for i in range(bits):
        row, a, b = total[i : i + 1] ^ carry, x[i : i + 1] ^ carry, y[i : i + 1] ^ carry
        rows.append(row)
        if carry_out or i < bits - 1:
            (change,) = gates.both((a, b))
            carry = carry ^ change
    return np.concatenate([*rows, carry] if carry_out else rows)

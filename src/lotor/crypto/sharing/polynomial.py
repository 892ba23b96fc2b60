"""1 / (1 + d) as a polynomial, by two servers alone; a dealer deals tables (`reciprocal.py`)."""

import numpy as np

from lotor.crypto.sharing.arithmetic import multiply
from lotor.crypto.sharing.circuits import Circuit
from lotor.crypto.sharing.cutting import cut, cut_and_mask
from lotor.crypto.sharing.engine import Engine, mask, moved
from lotor.crypto.sharing.masked import MaskedWords
from lotor.crypto.sharing.shares import Shared

POWER_BITS = 30
"""Bits behind the point of d, of powers and of coefficients."""

# 1 / (1.5 + s / 2) for -1 - 2^-6 <= s <= 1 + 2^-3, interpolated in Chebyshev's points of degree 12,
# with POWER_BITS behind the point. Written out, since both servers must have the same on any
# machine; a test finds them again.
COEFFICIENTS = (
    *(715827882, -238609291, 79536445, -26512224, 8837238, -2945206, 982453),
    *(-329158, 108357, -33569, 12373, -6008, 1619),
)

MOST = 1 + 2.0**-4 - 2.0**-8
"""How large d may be: the twelfth power of s must stay below 4."""


def polynomial_reciprocal(
    engine: Engine, d: Shared, bits: int, behind: int, ring: int
) -> Circuit[MaskedWords]:
    """1 / (1 + d) with `bits` behind the point, at most 30, where 0 <= d <= MOST has `behind`.

    d may also be less than 0 by 2^-7. It is shared modulo 2^ring. Powers of s = 2d - 1 up to the
    twelfth, each from two smaller ones: eleven rounds, where a dealer's table takes two. Off by
    less than 1.5 units of 2^-28.
    """
    d = yield from cut(engine, d, behind - POWER_BITS, ring)
    first = (d << 1) - (1 << POWER_BITS)
    one = yield from mask(engine, first)
    second = yield from cut(engine, multiply(engine, one, one), POWER_BITS)
    two = yield from mask(engine, Shared.concatenate([first, second]))
    to_fourth = yield from cut(engine, multiply(engine, _last(engine, two), two), POWER_BITS)
    powers = Shared.concatenate([first, second, to_fourth])
    four = yield from mask(engine, powers)
    to_eighth = yield from cut(engine, multiply(engine, _last(engine, four), four), POWER_BITS)
    eighth = yield from mask(engine, to_eighth[-1:])
    to_twelfth = yield from cut(engine, multiply(engine, eighth, four), POWER_BITS)
    weights = np.array(COEFFICIENTS[1:], np.int64).view(np.uint64)
    total = (Shared.concatenate([powers, to_eighth, to_twelfth]) * weights).sum(axis=0)
    total = total + (COEFFICIENTS[0] << POWER_BITS)
    return (yield from cut_and_mask(engine, total, 2 * POWER_BITS - bits))


def _last(engine: Engine, x: MaskedWords) -> MaskedWords:
    return moved(engine, x, lambda v: v[..., -1:])

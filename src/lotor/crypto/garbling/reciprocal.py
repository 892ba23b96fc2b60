"""1 / (1 + d) of a number of which two parties have shares.

Each of 256 pieces of [0, 1], one below and some above, has its own quadratic, whose three
coefficients are read from public tables. Within a piece, numbers are counted from its upper end:
then all coefficients are positive, and no product needs signs.
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from lotor.crypto.garbling.arithmetic import add
from lotor.crypto.garbling.circuit import BooleanCircuit
from lotor.crypto.garbling.gates import Gates, Wires
from lotor.crypto.garbling.lookup import decoded, looked_up
from lotor.crypto.garbling.multiplication import mean_dropped, products, shifted, summed

ARGUMENT_BITS, ARGUMENT_POINT = 31, 30
WITHIN = 22  # bits of the argument that say where in its piece it is
OFFSET = 1 << WITHIN
"""Added to d · 2^30: one piece, so that a d that is a bit too small is not negative."""

ABOVE = 16
"""Pieces above 1: d may exceed it by 2^-4, for what a context's length and rounding add up to."""
PIECES = 1 + (1 << ARGUMENT_POINT - WITHIN) + ABOVE
RESULT_POINT = 28
MASK_BITS = 64

# Bits behind the point. Errors of tables and of what is cut off are to be well below 2^-28.
VALUE_POINT, SLOPE_POINT, SECOND_POINT = 35, 34, 32
SLOPE_BITS, SECOND_BITS, VALUE_BITS = 27, 17, 36
SLOPE_CUT = 2  # of the slope's bits, before it is multiplied
HIGH = 13  # bits of v that the second coefficient is multiplied with
SLOPE_DROPPED = SECOND_POINT + HIGH - SLOPE_POINT
VALUE_DROPPED = SLOPE_POINT - SLOPE_CUT + WITHIN - VALUE_POINT
SPARE = VALUE_POINT - RESULT_POINT

# Where the quadratics meet 1 / x: close to Chebyshev's nodes, but rational.
NODES = Fraction(1, 15), Fraction(1, 2), Fraction(14, 15)


class ReciprocalCircuit(BooleanCircuit):
    """1 / (1 + d) with 28 bits behind the point, plus a mask, modulo 2^64.

    Inputs are two summands of d · 2^30 + 2^22 modulo 2^31, the evaluator's and the garbler's,
    (31, 1), and the garbler's mask, (64, 1); the output is (64,). d is from 0 to 1, or less than
    2^-8 below and 2^-4 above. The error is below 2^-27.6, and on average 2^-36.

    >>> ReciprocalCircuit()
    <ReciprocalCircuit of 1675 AND gates on 50 levels>
    """

    __slots__ = ()

    def __init__(self) -> None:
        argument = (ARGUMENT_BITS, 1)
        super().__init__(_masked_reciprocal, argument, argument, (MASK_BITS, 1))


def _masked_reciprocal(gates: Gates, x: Wires, y: Wires, mask: Wires) -> Wires:
    total = add(gates, x, y)
    hot = decoded(gates, total[WITHIN:], PIECES)
    tables = quadratics()
    zeroth = looked_up(gates, hot, tables.zeroth, VALUE_BITS)
    first = looked_up(gates, hot, tables.first, SLOPE_BITS)
    second = looked_up(gates, hot, tables.second, SECOND_BITS)
    v = gates.inverted(total[:WITHIN])
    bent = products(gates, second, v[-HIGH:], SLOPE_DROPPED)
    slope = summed(gates, SLOPE_BITS, bent, shifted(first))[SLOPE_CUT:]
    risen = products(gates, slope, v, VALUE_DROPPED)
    value = summed(gates, MASK_BITS + SPARE, risen, shifted(zeroth), shifted(mask, SPARE))
    return value[SPARE:, 0]


class Quadratics(NamedTuple):
    """Integer coefficients of each piece, in units of the last bit of each."""

    zeroth: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@lru_cache(maxsize=1)
def quadratics() -> Quadratics:
    """The tables, by fractions alone: both parties must garble the very same circuit.

    >>> [column[1] for column in quadratics()]
    [34226043051, 66587082, 65154]
    """
    rows = [_quadratic(piece) for piece in range(PIECES)]
    return Quadratics(*zip(*rows, strict=True))


def _quadratic(piece: int) -> tuple[int, int, int]:
    """The quadratic in v, from 0 to 1, that meets 1 / x at three nodes, where x = end - v · step.

    The divided differences of 1 / x are 1 / a, -1 / (a b) and 1 / (a b c). The coefficients also
    have what the circuit cuts off on average, and half a unit of the result, so that it is rounded.
    """
    step = Fraction(OFFSET, 1 << ARGUMENT_POINT)
    # v is one unit short of the distance from the upper end: its bits are the inverted argument's.
    end = 1 + piece * step - Fraction(1, 1 << ARGUMENT_POINT)
    a, b, c = (end - node * step for node in NODES)
    second = step**2 / (a * b * c)
    first = step / (a * b) - second * (NODES[0] + NODES[1])
    zeroth = 1 / a - step / (a * b) * NODES[0] + second * NODES[0] * NODES[1]
    slope_lost = mean_dropped(SLOPE_DROPPED) + Fraction((1 << SLOPE_CUT) - 1, 2)
    first = first + second / (2 << HIGH) + slope_lost / (1 << SLOPE_POINT)
    value_lost = mean_dropped(VALUE_DROPPED) + Fraction(1 << SPARE, 2)
    zeroth = zeroth + value_lost / (1 << VALUE_POINT)
    return (
        round(zeroth * (1 << VALUE_POINT)),
        round(first * (1 << SLOPE_POINT)),
        round(second * (1 << SECOND_POINT)),
    )

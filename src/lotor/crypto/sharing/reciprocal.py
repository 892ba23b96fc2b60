"""1 / (1 + d) for 0 <= d <= 1, by proof the range of the bandit's denominator."""

from lotor.crypto.sharing.arithmetic import multiply, square, truncate
from lotor.crypto.sharing.circuits import Circuit, together
from lotor.crypto.sharing.engine import Engine
from lotor.crypto.sharing.masked import Masked
from lotor.crypto.sharing.shares import Shared
from lotor.crypto.sharing.words import constant

# 8/17 in ten bits. It only begins the iteration, whose later steps are exact.
_SLOPE_BITS = 10
_SLOPE = round(8 / 17 * 2**_SLOPE_BITS)
# Seven roundings add up to at most 7 units on the way, so the way has more bits than its end.
_GUARD_BITS = 4


def reciprocal(engine: Engine, d: Shared, bits: int, behind: int) -> Circuit[Masked]:
    """1 / (1 + d) with `bits` behind the point, at most 26, where d has `behind`, at most 52.

    z = 24/17 - 8/17 y is within 1/17 of 1/y on [1, 2]; with e = 1 - y z the product
    z (1 + e)(1 + e²)(1 + e⁴) leaves e⁸ < 2^-32. Off by less than 1.5 units in the last
    place. Five rounds, where the paper takes 30.
    """
    wide = bits + _GUARD_BITS
    cut = behind - wide
    one = 1 << wide
    above_one, falling = yield from together(
        truncate(engine, d, cut), truncate(engine, d * -_SLOPE, cut + _SLOPE_BITS)
    )
    y = above_one + one
    z = falling + constant(16 / 17, wide)
    less = yield from truncate(engine, -multiply(engine, y, z), wide)
    e = less + one
    e, z = yield from _step(engine, e, z, wide)
    e, z = yield from _step(engine, e, z, wide)
    result = yield from truncate(engine, multiply(engine, z, e + one), wide + _GUARD_BITS)
    return result


def _step(engine: Engine, e: Masked, z: Masked, bits: int) -> Circuit[tuple[Masked, Masked]]:
    """e² and z (1 + e)."""
    squared, improved = yield from together(
        truncate(engine, square(engine, e), bits),
        truncate(engine, multiply(engine, z, e + (1 << bits)), bits),
    )
    return squared, improved

"""1 / (1 + d) for 0 <= d <= 1, by proof the range of the bandit's denominator."""

import numpy as np

from lotor.crypto.sharing.arithmetic import truncate
from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import WORD, Engine
from lotor.crypto.sharing.lookup import starts
from lotor.crypto.sharing.masked import MaskedWords
from lotor.crypto.sharing.shares import Shared
from lotor.crypto.sharing.words import Bits, Words

# Pieces have length 1/32, and places are known modulo 64 of them: from -1/2 to 3/2.
_PIECE_BITS, _PIECES = 5, 64
_BELOW = 16
# Bits of the coefficients, and of the place within a piece.
_COEFFICIENT_BITS, _PLACE_BITS = 35, 25


def reciprocal(engine: Engine, d: Shared, bits: int, behind: int) -> Circuit[MaskedWords]:
    """1 / (1 + d) with `bits` behind the point, at most 32, where d has `behind`, from 30 to 58.

    c = d + r is opened. The dealer, who knows r, shares for each piece of c the cubic in c that is
    1 / (1 + c - r) there: two rounds, where the paper takes 30. Off by less than 2^-26.5 and one
    unit in the last place, and by less than 2^-32 on average.
    """
    r = engine.uniform(d.shape, WORD, xor=False)
    n = r.number
    cubics = engine.dealt(lambda v: _cubics(v[n], behind), (*d.shape, _PIECES, 4), WORD, xor=False)
    (c,) = yield [OpeningShare(d.share + r.share, xor=False)]
    fine = c >> np.uint64(behind - _PIECE_BITS - _PLACE_BITS)
    piece = (fine >> np.uint64(_PLACE_BITS)) & np.uint64(_PIECES - 1)
    rows = starts(d.shape, _PIECES) + piece.view(np.int64)
    cubic = cubics.share.reshape(-1, 4).take(rows, axis=0)
    value = np.vecdot(cubic, _powers(fine & np.uint64((1 << _PLACE_BITS) - 1)))
    surplus = _COEFFICIENT_BITS + _PLACE_BITS - bits
    return (yield from truncate(engine, Shared(value, first=engine.first), surplus))


def _powers(place: Bits) -> Words:
    """1, p, p² and p³ of a place in [0, 1), in integers, so that both servers have the same."""
    bits = np.uint64(_PLACE_BITS)
    powers = np.empty((*place.shape, 4), np.uint64)
    powers[..., 0] = 1 << _PLACE_BITS
    powers[..., 1] = place
    powers[..., 2] = square = place * place >> bits
    powers[..., 3] = square * place >> bits
    return powers


def _cubics(r: Bits, behind: int) -> Words:
    """Chebyshev's: the first four terms of 1 / (m + h s) for -1 <= s <= 1, where s = 2 p - 1.

    These are 2 (-q)^k / sqrt(m² - h²), the first one halved, for q = h / (m + sqrt(m² - h²)), and
    with q < 2^-6.9 what is left out is below 2^-26.6. Every operation is rounded as IEEE 754 says,
    so that the dealer deals the same again after a crash.
    """
    half = 0.5 ** (_PIECE_BITS + 1)
    piece_bits = behind - _PIECE_BITS
    own = ((r >> np.uint64(piece_bits)) & np.uint64(_PIECES - 1)).astype(np.int64)[..., None]
    within = (r & np.uint64((1 << piece_bits) - 1)).astype(np.float64)[..., None]
    number = (np.arange(_PIECES) - own + _BELOW) % _PIECES - _BELOW
    begin = number * (2 * half) - within * 0.5**behind
    # What the place loses on average, where it is cut off.
    lost = half * (0.5**_PLACE_BITS - 0.5**piece_bits)
    middle = (1 + half + lost) + begin
    root = np.sqrt(middle * middle - half * half)
    q = -half / (middle + root)
    zeroth = 1 / root
    first = 2 * zeroth * q
    second = first * q
    third = second * q
    in_place = [
        zeroth - first + second - third,
        2 * first - 8 * second + 18 * third,
        8 * second - 48 * third,
        32 * third,
    ]
    scaled = np.rint(np.stack(in_place, axis=-1) * 2.0**_COEFFICIENT_BITS)
    return scaled.astype(np.int64).view(np.uint64)

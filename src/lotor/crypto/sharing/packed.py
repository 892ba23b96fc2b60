"""Which of many shared numbers are negative: six rounds, and few bytes for each number.

x + r is opened for a random r whose bits are shared too. The borrow of c - r is found by a tree of
AND gates over neighbouring bits. Bits are folded beforehand, so that neighbours are the two halves
of a word, and each level leaves words half as wide.
"""

from functools import cache

import numpy as np

from lotor.crypto.sharing.boolean import conjunction
from lotor.crypto.sharing.borrow import BorrowTables, concluded
from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import WORD, Engine, mask_bits, moved_bits
from lotor.crypto.sharing.masked import BitTerm, MaskedBits, Rearrange, Secret
from lotor.crypto.sharing.shares import Shared, SharedBits, Tally
from lotor.crypto.sharing.words import Bits, Words

_TOP = np.uint64(1 << 63)  # the sign, which folding leaves where it is

# Less: the upper half, or it is equal (4) and the lower half is.
_LAST = BorrowTables.of(np.array([0, 0, 1, 1, 0, 1, 1, 1], np.uint8))


def _fold(low: int, high: int) -> tuple[np.uint64, np.uint64]:
    """How bits are exchanged whose places differ in these two binary digits: a shift and a mask."""
    places = [p for p in range(64) if p >> low & 1 and not p >> high & 1]
    return np.uint64((1 << high) - (1 << low)), np.uint64(sum(1 << p for p in places))


_FOLDS = [_fold(0, 5), _fold(1, 4), _fold(2, 3)]


def folded(words: Words) -> Words:
    """Bits moved so that neighbours 2i and 2i + 1 lie in the two halves, and so on within these.

    The place of a bit has its six binary digits reversed; doing it twice changes nothing.
    """
    for shift, mask in _FOLDS:
        moves = ((words >> shift) ^ words) & mask
        words = words ^ moves ^ (moves << shift)
    return words


def packed_negative(engine: Engine, x: Shared) -> Circuit[Tally]:
    """1 for each number with -2^63 <= x < 0, as if 64 bits were signed, and 0 for others."""
    r = engine.uniform(x.shape, WORD, xor=True)  # folded
    n = r.number
    mask = engine.dealt(lambda v: folded(v[n].astype(np.uint64)), x.shape, WORD, xor=False)
    (opened,) = yield [OpeningShare(x.share + mask.share, xor=False)]
    c = folded(opened)
    state = yield from _halves_of(engine, c, engine.rearranged(r, lambda bits: bits & ~_TOP))
    return (yield from concluded(engine, _LAST, state, c, lambda v: v[n] >> np.uint64(63)))


def _halves_of(engine: Engine, c: Words, r: Secret) -> Circuit[Bits]:
    """Of the upper and the lower half of 63 bits whether c's are less than r's, of the upper
    whether they are equal.

    A bit generates a borrow where c is 0 and r is 1, and propagates one where they are equal; the
    sign bit propagates. Of two halves, the upper one's own borrow and what it lets through from
    the lower one join to that of the whole.
    """
    not_c = ~c | _TOP
    high, low = _halves(64)
    upper, lower = engine.rearranged(r, high), engine.rearranged(r, low)
    above = MaskedBits(high(not_c), BitTerm(None, upper))
    below = MaskedBits(low(not_c), BitTerm(None, lower))
    generated = MaskedBits(np.zeros_like(below.public), BitTerm(below.public, lower))
    passed = conjunction(engine, above, generated).share
    generate = high(r.share & not_c) ^ passed
    propagate = conjunction(engine, above, below).share
    width = 32
    while width > 2:
        high, low = _halves(width)
        # One opening and one gate for both: what propagates above, with each of the two below.
        parts = np.stack([high(propagate), low(propagate), low(generate)], axis=-2)
        opened = yield from mask_bits(engine, SharedBits(parts, first=engine.first))
        joined = conjunction(
            engine, moved_bits(engine, opened, _first), moved_bits(engine, opened, _others)
        )
        propagate, passed = joined.share[..., 0, :], joined.share[..., 1, :]
        generate = high(generate) ^ passed
        width //= 2
    state: Bits = (generate & np.uint8(3)) | ((propagate & np.uint8(2)) << np.uint8(1))
    return state


def _first(parts: Bits) -> Bits:
    return parts[..., :1, :]


def _others(parts: Bits) -> Bits:
    return parts[..., 1:, :]


@cache
def _halves(width: int) -> tuple[Rearrange, Rearrange]:
    """How the upper and the lower half of words are cut out.

    Where both fit in a byte, what is left above them does not matter.
    """
    half = width // 2
    dtype = np.dtype(f"u{max(half // 8, 1)}")

    def high(bits: Bits) -> Bits:
        upper: Bits = (bits >> bits.dtype.type(half)).astype(dtype, copy=False)
        return upper

    def low(bits: Bits) -> Bits:
        lower: Bits = bits.astype(dtype, copy=False)
        return lower

    return high, low

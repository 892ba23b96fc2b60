"""From one sharing to the other (the paper's Appendix A.1, with its slips corrected)."""

import numpy as np

from lotor.crypto.sharing.boolean import conjunction
from lotor.crypto.sharing.circuits import Circuit, OpeningShare, together
from lotor.crypto.sharing.engine import BYTE, WORD, Engine, mask_bits, moved_bits
from lotor.crypto.sharing.masked import BitTerm, MaskedBits, MaskedWords, Rearrange, Term
from lotor.crypto.sharing.shares import Shared, SharedBits
from lotor.crypto.sharing.words import Words

_ONE = np.uint64(1)


def bit_to_word(engine: Engine, bits: SharedBits) -> Circuit[MaskedWords]:
    """Bytes whose lowest bit counts, as the numbers 0 and 1.

    v = b XOR rho is opened for a random bit rho that the dealer shares in both ways, and
    b = v + (1 - 2v) rho. (A sum of the servers' bits, as in the paper, would not be their XOR.)
    """
    rho = engine.uniform(bits.shape, BYTE, xor=True)
    number = engine.bit_word(rho)
    (opened,) = yield [OpeningShare((bits.share ^ rho.share) & np.uint8(1), xor=True)]
    v = opened.astype(np.uint64)
    turned = _ONE - (v << _ONE)
    return MaskedWords(v, number.share * turned, (Term(turned, number.number, WORD),))


def bits_to_words(engine: Engine, bits: SharedBits) -> Circuit[Shared]:
    """64-bit words as numbers: the sum of 2^b times bit b, from b = 0 on."""
    places = np.arange(64, dtype=np.uint64)
    single = ((bits.share[..., None] >> places) & _ONE).astype(np.uint8)
    ones = yield from bit_to_word(engine, SharedBits(single, first=engine.first))
    weights = _ONE << places
    share: Words = (ones.share * weights).sum(axis=-1, dtype=np.uint64)
    public: Words = (ones.public * weights).sum(axis=-1, dtype=np.uint64)
    return Shared(share, first=engine.first) + public


def words_to_bits(engine: Engine, x: Shared) -> Circuit[SharedBits]:
    """Numbers as 64-bit words: c = x + r is opened, and r taken from it bit by bit.

    Bit i of c - r is c_i XOR r_i XOR the borrow from below it; six levels of a parallel prefix
    find all borrows.
    """
    r = engine.uniform(x.shape, WORD, xor=True)
    n = r.number
    mask = engine.dealt(lambda v: v[n], x.shape, WORD, xor=False)
    (c,) = yield [OpeningShare(x.share + mask.share, xor=False)]
    generate = MaskedBits(np.zeros_like(c), BitTerm(~c, r))
    propagate = MaskedBits(~c, BitTerm(None, r))
    g = SharedBits(r.share & ~c, first=engine.first)
    p = SharedBits(r.share ^ ~c if engine.first else r.share, first=engine.first)
    for level in range(6):
        # What comes from below the lowest bit neither generates nor propagates.
        up = _moved_up(1 << level)
        lower_g, lower_p = moved_bits(engine, generate, up), moved_bits(engine, propagate, up)
        g ^= conjunction(engine, propagate, lower_g)
        p = conjunction(engine, propagate, lower_p)
        if level < 5:
            generate, propagate = yield from together(mask_bits(engine, g), mask_bits(engine, p))
    borrows = g << 1
    return SharedBits(r.share, first=engine.first) ^ c ^ borrows


def _moved_up(distance: int) -> Rearrange:
    return lambda words: words << words.dtype.type(distance)

"""AND on bits that are shared by XOR."""

from lotor.crypto.sharing.circuits import Circuit, together
from lotor.crypto.sharing.engine import Engine, mask_bits
from lotor.crypto.sharing.masked import MaskedBits
from lotor.crypto.sharing.shares import SharedBits
from lotor.crypto.sharing.words import Bits


def bit_offset(x: MaskedBits) -> Bits:
    """A server's share of x XOR its public part."""
    share = x.term.secret.share
    return share if x.term.coefficient is None else share & x.term.coefficient


def conjunction(engine: Engine, x: MaskedBits, y: MaskedBits) -> SharedBits:
    """x AND y, bit by bit."""
    ours = bit_offset(y) ^ y.public if engine.first else bit_offset(y)
    share = (x.public & ours) ^ (y.public & bit_offset(x))
    dealt = engine.conjunction(x.term.secret, y.term.secret).share
    for coefficient in (x.term.coefficient, y.term.coefficient):
        if coefficient is not None:
            dealt = dealt & coefficient
    return SharedBits(share ^ dealt, first=engine.first)


def both(engine: Engine, x: SharedBits, y: SharedBits) -> Circuit[SharedBits]:
    """x AND y in one round."""
    left, right = yield from together(mask_bits(engine, x), mask_bits(engine, y))
    return conjunction(engine, left, right)

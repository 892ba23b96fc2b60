"""AND on bits that are shared by XOR, and what is built of it."""

from lotor.crypto.sharing.circuits import Circuit, together
from lotor.crypto.sharing.engine import Engine, mask_bits, moved_bits
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


def all_of(engine: Engine, x: SharedBits) -> Circuit[SharedBits]:
    """The AND along the last axis, in a tree: ceil(log2 n) rounds."""
    while x.shape[-1] > 1:
        x = yield from halved(engine, x)
    return x[..., 0]


def halved(engine: Engine, x: SharedBits) -> Circuit[SharedBits]:
    """One level of the tree: neighbours are joined, and half as many are left."""
    half, odd = divmod(x.shape[-1], 2)
    if half == 0:
        return x
    opened = yield from mask_bits(engine, x[..., : 2 * half])
    joined = conjunction(
        engine,
        moved_bits(engine, opened, lambda v: v[..., :half]),
        moved_bits(engine, opened, lambda v: v[..., half:]),
    )
    if not odd:
        return joined
    return SharedBits.concatenate([joined, x[..., 2 * half :]], axis=-1)

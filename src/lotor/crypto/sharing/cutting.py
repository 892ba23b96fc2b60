"""Truncation that two servers do by themselves: one transfer for each number, one bit each way.

Where the sign of a number is known, its shares wrap around as the highest bits of both of them say
(Rathee et al., "SIRNN", 2021; Huang, Lu, Hong and Ding, "Cheetah", 2022).
"""

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import BYTE, RING, Engine, mask
from lotor.crypto.sharing.masked import MaskedWords
from lotor.crypto.sharing.shares import Shared

_ONE = np.uint8(1)


def cut(engine: Engine, z: Shared, bits: int, ring: int = RING) -> Circuit[Shared]:
    """z / 2^bits for |z| < 2^(ring - 2), where z is shared modulo 2^ring; the result modulo 2^64.

    Off by less than one, never by a wrap, and right on average where shares are uniform: it is
    rounded up as often as its rest says. t = z + 2^(ring - 2) is below 2^(ring - 1). It is the
    first server's share less the negated second one, and so borrows 2^ring just when the highest
    bit of the former is 0 and that of the latter is 1: an AND of two private bits b. Each server
    opens b XOR rho for a random bit rho of its own, and the two have shares of the product of
    their rhos.
    """
    rho = engine.uniform(z.shape, BYTE, xor=True)
    pair = engine.bit_pair(rho).share
    share = z.share + np.uint64(1 << (ring - 2)) if engine.first else -z.share
    if ring < RING:
        share = share & np.uint64((1 << ring) - 1)
    half = np.uint64(1 << (ring - 1))
    bit = (share < half if engine.first else share >= half).view(np.uint8)
    ours = bit ^ (rho.share & _ONE)
    packed = np.packbits(ours)
    (opened,) = yield [OpeningShare(packed, xor=False, theirs=packed.shape)]
    theirs = np.unpackbits(opened, count=ours.size).reshape(ours.shape)
    # (ours ^ rho) (theirs ^ rho') is linear in rho·rho' and in what each server knows by itself.
    borrows = np.where((ours ^ theirs).view(np.bool_), -pair, pair)
    borrows += bit & theirs
    whole = share >> np.uint64(bits)
    if engine.first:
        borrows -= ours & theirs
        whole -= np.uint64(1 << (ring - 2 - bits))
    borrows <<= np.uint64(ring - bits)
    return Shared(borrows + whole if engine.first else borrows - whole, first=engine.first)


def cut_and_mask(engine: Engine, z: Shared, bits: int, ring: int = RING) -> Circuit[MaskedWords]:
    """The same, opened under a mask in a round of its own."""
    made = yield from cut(engine, z, bits, ring)
    return (yield from mask(engine, made))

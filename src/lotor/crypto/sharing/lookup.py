"""Public functions of small secret numbers: what is opened says where to read in a dealt table.

A table is dealt with its entries moved by the mask of what is opened, as shares that are random
words: reading one of them tells nothing, and no round follows.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import BYTE, SHORT, Engine
from lotor.crypto.sharing.masked import Secret
from lotor.crypto.sharing.shares import SharedBits, Tally
from lotor.crypto.sharing.words import Bits

Places = NDArray[np.intp]


@lru_cache(maxsize=64)
def starts(shape: tuple[int, ...], size: int) -> Places:
    """Where in a flat array each table begins, of so many entries."""
    count = int(np.prod(shape))
    return np.arange(0, count * size, size).reshape(shape)


def read(table: Secret, index: Bits | Places) -> Bits:
    """Of each table, which are along the last axis, a server's share of one entry."""
    places = starts(index.shape, table.share.shape[-1]) + index
    entries: Bits = table.share.reshape(-1).take(places)
    return entries


def look_up(engine: Engine, x: Tally, function: Bits) -> Circuit[SharedBits]:
    """f(x) in one round, for the f that has these values; their number is a power of two.

    x + a is opened, and the dealer deals f(i - a) for each i.
    """
    last = np.uint16(len(function) - 1)
    a = engine.uniform(x.shape, SHORT, xor=False)
    n, places = a.number, np.arange(len(function), dtype=np.uint16)
    table = engine.dealt(
        lambda v: function.take((places - v[n][..., None]) & last),
        (*x.shape, len(function)),
        BYTE,
        xor=True,
    )
    (opened,) = yield [OpeningShare(x.share + a.share, xor=False)]
    return SharedBits(read(table, (opened & last).astype(np.intp)), first=engine.first)


def one_hot_of_sum(engine: Engine, own: int, k: int) -> Circuit[Tally]:
    """A one at (i + j) mod k, where each server brings a number below k that it alone knows.

    i + j + a is opened, and turns a one-hot vector that is dealt with its one at -a.
    """
    size = 1 << (2 * k - 1).bit_length()
    a = engine.uniform((1,), SHORT, xor=False)
    n, last = a.number, np.uint16(size - 1)
    # Twice over, so that all turns of it are slices.
    places = np.arange(2 * size, dtype=np.uint32).astype(np.uint16)
    vector = engine.dealt(
        lambda v: (((places + v[n]) & last) == 0).astype(np.uint16), (2 * size,), SHORT, xor=False
    )
    (opened,) = yield [OpeningShare(a.share + np.uint16(own), xor=False)]
    turn = size - int(opened[0]) % size
    ones = vector.share[turn : turn + k] + vector.share[turn + k : turn + 2 * k]
    return Tally(ones, first=engine.first)

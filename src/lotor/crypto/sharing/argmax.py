"""Where the largest of shared numbers is, as a one-hot vector (the paper's Algorithm 2).

Of equal numbers the first one wins. To decide between them at random, a caller puts them in a
random order that both servers know; where nobody may know it, it makes room below the last bit and
adds a secret permutation there, which replaces the paper's second pass.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.arithmetic import multiply
from lotor.crypto.sharing.boolean import both
from lotor.crypto.sharing.circuits import Circuit, together
from lotor.crypto.sharing.comparison import negative
from lotor.crypto.sharing.conversion import bit_to_word
from lotor.crypto.sharing.engine import Engine, mask
from lotor.crypto.sharing.lookup import look_up
from lotor.crypto.sharing.shares import Shared, SharedBits, Tally
from lotor.crypto.sharing.words import Bits, Shorts

# From here on two smaller comparisons of all pairs cost less than one large one: measured by
# benchmarks/sharing.py for rounds of 200 µs and the network between loopback and a gigabit.
TOURNAMENT = 160

# Not more than anything that is compared. It stands behind all of it, and loses where it is equal.
_LOWEST = -(1 << 62)


class Pairs(NamedTuple):
    """All pairs i < j of k numbers; `of[a]` are the pairs of a, and `signs` -1 where it is j."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    of: NDArray[np.intp]
    signs: Shorts
    swapped: Shorts


@lru_cache(maxsize=64)
def pairs(k: int) -> Pairs:
    """The pairs of k numbers, each compared once; `swapped[a]` are those where a is j."""
    i, j = np.triu_indices(k, 1)
    number = np.zeros((k, k), np.intp)
    number[i, j] = number[j, i] = np.arange(len(i))
    others = ~np.eye(k, dtype=bool)
    signs = np.triu(np.full((k, k), 2, np.uint16)) - np.uint16(1)
    swapped = np.arange(k, dtype=np.uint16)
    return Pairs(i, j, number[others].reshape(k, k - 1), signs[others].reshape(k, k - 1), swapped)


def differences(x: Shared) -> Shared:
    """x_i - x_j for all pairs of the last axis."""
    among = pairs(x.shape[-1])
    return x[..., among.i] - x[..., among.j]


def losses(less: Tally, k: int) -> Tally:
    """For each number how many of the others are larger, or are equal and come before it.

    `less` says of each pair whether the first is below the second.
    """
    among = pairs(k)
    lost = (less.share[..., among.of] * among.signs).sum(axis=-1, dtype=np.uint16)
    return Tally(lost, first=less.first) + among.swapped


@lru_cache(maxsize=64)
def only(number: int, size: int) -> Bits:
    """The function that is 1 for one number, with as many values as look-up tables have."""
    values = np.zeros(1 << (size - 1).bit_length(), np.uint8)
    values[number] = 1
    return values


def argmax(engine: Engine, x: Shared) -> Circuit[SharedBits]:
    """A byte for each number of the last axis, 1 at the (first) largest; -2^62 <= x < 2^62."""
    k = x.shape[-1]
    if k == 1:
        return engine.shared_bits(np.ones(x.shape, np.uint8))
    if k >= TOURNAMENT and len(x.shape) == 1:
        return (yield from tournament(engine, x, group_count(k)))
    less = yield from negative(engine, differences(x))
    return (yield from look_up(engine, losses(less, k), only(0, k)))


class Heats(NamedTuple):
    """The first half of a tournament: where the best of each group is, and its value."""

    best: SharedBits
    winners: Shared
    entrants: int


def group_count(k: int) -> int:
    """In how many groups a tournament of k compares the fewest pairs."""
    return int(np.rint(np.cbrt(k * k / 2)))


def tournament(engine: Engine, x: Shared, groups: int) -> Circuit[SharedBits]:
    """All pairs within each group, then among the winners: some more rounds, far fewer pairs."""
    first = yield from heats(engine, x, groups)
    group = yield from argmax(engine, first.winners)
    return (yield from placed(engine, first, group))


def heats(engine: Engine, x: Shared, groups: int) -> Circuit[Heats]:
    """The largest of each group."""
    k = len(x)
    size = -(-k // groups)
    filler = engine.shared(np.full(groups * size - k, _LOWEST % (1 << 64), np.uint64))
    table = Shared.concatenate([x, filler]).reshape(groups, size)
    best, values = yield from together(argmax(engine, table), mask(engine, table))
    chosen = yield from bit_to_word(engine, best)
    return Heats(best, multiply(engine, chosen, values).sum(axis=-1), k)


def placed(engine: Engine, first: Heats, group: SharedBits) -> Circuit[SharedBits]:
    """Where the number is that is the best of the one chosen group."""
    size = first.best.shape[1]
    spread = SharedBits(np.repeat(group.share[:, None], size, axis=1), first=engine.first)
    one_hot = yield from both(engine, first.best, spread)
    return SharedBits(one_hot.share.reshape(-1)[: first.entrants], first=engine.first)

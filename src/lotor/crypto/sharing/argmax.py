"""Where the largest of shared numbers is, as a one-hot vector (the paper's Algorithm 2).

The numbers must be different; whoever wants equal ones decided at random makes room below the last
bit and adds a secret permutation there, which replaces the paper's second pass.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.arithmetic import multiply
from lotor.crypto.sharing.boolean import all_of, both
from lotor.crypto.sharing.circuits import Circuit, together
from lotor.crypto.sharing.comparison import negative
from lotor.crypto.sharing.conversion import bit_to_word
from lotor.crypto.sharing.engine import Engine, mask
from lotor.crypto.sharing.shares import Shared, SharedBits
from lotor.crypto.sharing.words import Bits

# From here on two smaller comparisons of all pairs cost less than one large one: measured by
# benchmarks/sharing.py for rounds of 200 µs and the network between loopback and a gigabit.
TOURNAMENT = 160

# Less than anything that is compared, and far enough from the edge to be subtracted.
_LOWEST = -(1 << 62)


class Pairs(NamedTuple):
    """All pairs i < j of k numbers; `of[a]` are the pairs of a, and `swapped` where it is j."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    of: NDArray[np.intp]
    swapped: Bits


@lru_cache(maxsize=64)
def pairs(k: int) -> Pairs:
    """The pairs of k numbers, each compared once."""
    i, j = np.triu_indices(k, 1)
    number = np.zeros((k, k), np.intp)
    number[i, j] = number[j, i] = np.arange(len(i))
    others = ~np.eye(k, dtype=bool)
    swapped = np.tril(np.ones((k, k), np.uint8), -1)
    return Pairs(i, j, number[others].reshape(k, k - 1), swapped[others].reshape(k, k - 1))


def differences(x: Shared) -> Shared:
    """x_i - x_j for all pairs of the last axis."""
    among = pairs(x.shape[-1])
    return x[..., among.i] - x[..., among.j]


def victories(less: SharedBits, k: int) -> SharedBits:
    """A row for each number: whether it is not below each of the others.

    `less` says of each pair whether the first is below the second.
    """
    among = pairs(k)
    return less[..., among.of] ^ (among.swapped ^ np.uint8(1))


def argmax(engine: Engine, x: Shared) -> Circuit[SharedBits]:
    """A byte for each number of the last axis, 1 at the largest; all are within ±2^61."""
    k = x.shape[-1]
    if k == 1:
        return engine.shared_bits(np.ones(x.shape, np.uint8))
    if k >= TOURNAMENT and len(x.shape) == 1:
        return (yield from tournament(engine, x, group_count(k)))
    less = yield from negative(engine, differences(x))
    return (yield from all_of(engine, victories(less, k)))


class Heats(NamedTuple):
    """The first half of a tournament: the best within each group, and what it has."""

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

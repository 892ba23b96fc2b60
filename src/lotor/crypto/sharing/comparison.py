"""Which shared numbers are negative, in three rounds.

x + r is opened. The sign of x = c - r is that of c and r and the borrow from below, and whether a
borrow comes from some digits depends on how those of c compare with those of r: less, or equal so
that one from below is passed on. For each digit of c this is read in a dealt table, which knows r;
then for three digits, and for three times three, where what was read is opened under a mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lotor.crypto.sharing.borrow import (
    ANY_COIN,
    HIGH_COIN,
    LOW_COIN,
    BorrowTables,
    concluded,
)
from lotor.crypto.sharing.circuits import Circuit, OpeningShare, together
from lotor.crypto.sharing.engine import BYTE, WORD, Engine
from lotor.crypto.sharing.lookup import read
from lotor.crypto.sharing.packed import packed_negative
from lotor.crypto.sharing.shares import Shared, SharedBits, Tally
from lotor.crypto.sharing.words import Bits, Words

# From so many numbers on, dealing tables takes more than the three further rounds of `packed.py`:
# measured by benchmarks/sharing.py, for a network between loopback and a gigabit.
MANY = 200

# The lower 63 bits are nine digits of seven, in three groups of three; axes are the place in a
# group, the group, and the number.
_SHIFTS = (7 * (np.arange(3)[:, None] + 3 * np.arange(3)))[..., None].astype(np.uint64)
_DIGITS = np.arange(128, dtype=np.uint8)
_STATES = np.arange(64, dtype=np.uint8)
_ROW_OF_PLACE = 128 * np.arange(3)[:, None, None]
_MASK_OF_PLACE = 64 * np.arange(3)[:, None]
_BIT_OF_PLACE = (2 * np.arange(3, dtype=np.uint8))[:, None, None, None]
_LAST_DIGIT, _LAST_STATE = np.uint64(127), np.uint8(63)
_SIGN = np.uint64(63)


def _state(left: Bits, right: Bits) -> Bits:
    """Two bits: 1 for less, 2 for equal."""
    less, equal = (left < right).astype(np.uint8), (left == right).astype(np.uint8)
    state: Bits = less | equal << np.uint8(1)
    return state


def _joined(states: Bits) -> Bits:
    """The state of three digits or groups, from two bits of each, the lowest first."""
    low, middle, high = (states >> np.uint8(shift) for shift in (0, 2, 4))
    less = high | (high >> 1) & (middle | (middle >> 1) & low)
    joined: Bits = (less & 1) | (high & middle & low & 2)
    return joined


def _placed(states: Bits) -> Bits:
    """The same for each place in a group, where it is written."""
    return np.stack([states << np.uint8(2 * place) for place in range(3)])


_BY_DIGIT = _placed(_state(_DIGITS, _DIGITS[:, None])).reshape(3 * 128, 128)
"""A row for each place and each digit of r; a column for each digit of c."""
_BY_MASK = _placed(_joined(_STATES[:, None] ^ _STATES)).reshape(3 * 64, 64)
"""A row for each place and each mask; a column for each opened state."""
_LAST = BorrowTables.of(_joined(_STATES) & np.uint8(1))


@dataclass(frozen=True, slots=True)
class Coins:
    """Uniform 64-bit words that are shared by XOR, to be compared with a public threshold."""

    words: SharedBits
    threshold: int

    @property
    def kind(self) -> int:
        return ANY_COIN if self.threshold >> 64 else (LOW_COIN, HIGH_COIN)[self.threshold >> 63]


def negative(engine: Engine, x: Shared, coins: Coins | None = None) -> Circuit[Tally]:
    """1 for each number with -2^63 <= x < 0, as if 64 bits were signed, and 0 for others.

    With coins, x is a vector; whether each is below the threshold comes behind it.
    """
    if coins is None:
        flat = Shared(x.share.reshape(-1), first=x.first)
        compare = tabled_negative if len(flat) < MANY else packed_negative
        return (yield from compare(engine, flat)).reshape(x.shape)
    if len(x) < MANY:
        return (yield from tabled_negative(engine, x, coins))
    less, below = yield from together(
        packed_negative(engine, x), tabled_negative(engine, x[:0], coins)
    )
    return Tally(np.concatenate([less.share, below.share]), first=engine.first)


def tabled_negative(engine: Engine, x: Shared, coins: Coins | None = None) -> Circuit[Tally]:
    """The same for a vector x, always by tables."""
    r = engine.uniform(x.shape, WORD, xor=False)
    parts = [OpeningShare(x.share + r.share, xor=False)]
    masks, count = [r.number], len(x)
    if coins is not None:
        s = engine.uniform(coins.words.shape, WORD, xor=True)
        parts.append(OpeningShare(coins.words.share ^ s.share, xor=True))
        masks, count = [r.number, s.number], count + len(s.share)
    tables = engine.dealt(
        lambda v: _digit_tables([v[n] for n in masks], coins), (3, 3, count, 128), BYTE, xor=True
    )
    opened = yield parts
    c: Words = np.concatenate(opened) if coins is not None else opened[0]
    digits = ((c >> _SHIFTS) & _LAST_DIGIT).view(np.int64)
    state = np.bitwise_xor.reduce(read(tables, digits), axis=0)
    state = yield from _three_joined(engine, state)
    return (
        yield from concluded(
            engine, _LAST, state, c, lambda v: _kinds([v[n] for n in masks], coins)
        )
    )


def _three_joined(engine: Engine, state: Bits) -> Circuit[Bits]:
    """The states of groups: shared by XOR they come, and so they go, at the group's place."""
    m = engine.uniform(state.shape, BYTE, xor=True)
    n = m.number
    tables = engine.dealt(
        lambda v: _BY_MASK.take(_MASK_OF_PLACE + (v[n] & _LAST_STATE), axis=0),
        (*state.shape, 64),
        BYTE,
        xor=True,
    )
    (opened,) = yield [OpeningShare(state ^ m.share, xor=True)]
    joined: Bits = np.bitwise_xor.reduce(read(tables, opened & _LAST_STATE), axis=0)
    return joined


def _digit_tables(masks: Sequence[Bits], coins: Coins | None) -> Bits:
    """What each digit of c would tell, by the dealer, who knows the masks of numbers and coins."""
    digits = [((mask >> _SHIFTS) & _LAST_DIGIT).astype(np.int64) for mask in masks]
    tables: Bits = _BY_DIGIT.take(_ROW_OF_PLACE + digits[0], axis=0)
    if coins is None:
        return tables
    threshold = (np.uint64(coins.threshold % (1 << 64)) >> _SHIFTS & _LAST_DIGIT)[..., None]
    coin = digits[1][..., None].astype(np.uint8) ^ _DIGITS
    states = _state(coin, threshold.astype(np.uint8)) << _BIT_OF_PLACE
    return np.concatenate([tables, states], axis=2)


def _kinds(masks: Sequence[Bits], coins: Coins | None) -> Bits:
    signs = [mask >> _SIGN for mask in masks]
    if coins is None:
        return signs[0]
    return np.concatenate([signs[0], signs[1] + np.uint64(coins.kind)])

"""Shares of products of one party's private words with the other's private vectors, modulo 2^ring.

Gilboa, "Two Party RSA Key Generation" (1999), on correlated transfers (Asharov, Lindell, Schneider
and Zohner, 2013), with whole vectors as messages: the chooser has words c, the sender a vector V
for each of them. For bit k of a word the sender derives vectors r0 and r1 of masks, H(q) and
H(q xor delta); the chooser derives the one of its bit. The sender sends r0 - r1 + V, so that the
chooser has r0 + c_k·V, and, summed with weights 2^k, c·V + sum of 2^k·r0. The sender's share is
minus that sum. One transfer serves a bit whatever the length of V, and since it counts 2^k-fold,
only ring - k bits of V and of the masks are needed for it: half of all masks are narrower words.

A word may also be a single bit, which chooses whether the whole vector counts.

Against curious parties, as in `products`:
- The sender sees the columns of the extension only: choices under a pseudo-random pad.
- The chooser sees V under r0 or r1, whichever it does not know. It looks random, since TMMO is
  correlation robust (hash.py) where no tweak occurs twice: a tweak tells the epoch, the batch, the
  transfer, the row and the block, and each batch has a key of its own. So a row may choose in
  several transfers of a batch.
- Each share alone is uniform.

A cheating sender could add a number of its choice to a share, and a cheating chooser could test
guesses of delta.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import Words
from lotor.core.errors import FormatError, InputError
from lotor.crypto.one_use import OneUse
from lotor.crypto.ot.delta import Delta, Labels
from lotor.crypto.ot.extension import CorrelatedReceiver, CorrelatedSender, batch_rows
from lotor.crypto.ot.hash import (
    HashKeys,
    Place,
    Purpose,
    check_security,
    octets,
    tweak_base,
)

_BLOCK = 16
# numpy moves a block at once that it takes for one thing.
_WHOLE = np.dtype("V16")
# Bytes of masks that are made at once: they stay in a core's cache.
_AT_ONCE = 1 << 18
# So many bits of a tweak are for a block's number, for a transfer's, and for a row's.
_BLOCK_BITS = _TRANSFER_BITS = 16
_ROW_BITS = 32
# Narrower masks need numpy's calls once more, which pays for so many blocks saved.
_WORTH = 1 << 11

AnyWords = NDArray[np.unsignedinteger]


class VectorTransfer(NamedTuple):
    """So many private words, each times a vector of its own: what both parties know.

    The rows of bit k of all words follow those of bit k - 1, and begin with row `first` of the
    batch. Products are modulo 2^`ring`; where words are single bits, `bits` is 1, else it is ring.
    """

    first: int
    words: int
    bits: int
    length: int
    ring: int = 64

    @property
    def rows(self) -> int:
        return self.bits * self.words

    @property
    def groups(self) -> "tuple[_Group, ...]":
        """Bits for which masks of the same width do, from the lowest on."""
        return _groups(self)

    @property
    def hashes(self) -> int:
        """How many blocks the chooser hashes; the sender hashes twice as many."""
        return sum((group.high - group.low) * group.blocks for group in self.groups) * self.words

    @property
    def chunks(self) -> "tuple[_Chunk, ...]":
        """Which bits are worked on together, and travel together."""
        return _chunks(self)

    @property
    def part_bytes(self) -> list[int]:
        """How long each part of the sender's words is."""
        return [chunk.size for chunk in self.chunks]


class _Group(NamedTuple):
    low: int
    high: int
    dtype: np.dtype[np.unsignedinteger]
    blocks: int

    @property
    def each(self) -> int:
        """How many numbers are in a block."""
        return _BLOCK // self.dtype.itemsize


@lru_cache(maxsize=256)
def _groups(transfer: VectorTransfer) -> tuple[_Group, ...]:
    found: list[_Group] = []
    for end, width in ((transfer.ring - 32, 8), (transfer.ring - 16, 4), (transfer.ring, 2)):
        low = found[-1].high if found else 0
        high = min(end, transfer.bits)
        blocks = -(-transfer.length * width // _BLOCK)
        if high <= low:
            continue
        if found and (high - low) * transfer.words * (found[-1].blocks - blocks) < _WORTH:
            found[-1] = found[-1]._replace(high=high)
        else:
            found.append(_Group(low, high, np.dtype(f"u{width}"), blocks))
    return tuple(found)


class _Chunk(NamedTuple):
    group: _Group
    rows: slice
    """Of the batch."""
    shape: tuple[int, int, int]
    """Of the numbers: blocks, bits, words times numbers in a block."""
    weights: AnyWords
    """How often each bit's numbers count in the group's sum."""

    @property
    def size(self) -> int:
        return prod(self.shape) * self.group.dtype.itemsize


@lru_cache(maxsize=256)
def _chunks(transfer: VectorTransfer) -> tuple[_Chunk, ...]:
    found = []
    for group in transfer.groups:
        step = max(1, _AT_ONCE // (_BLOCK * group.blocks * transfer.words))
        for start in range(group.low, group.high, step):
            stop = min(start + step, group.high)
            first, last = (transfer.first + bit * transfer.words for bit in (start, stop))
            shape = group.blocks, stop - start, transfer.words * group.each
            places = np.arange(start - group.low, stop - group.low, dtype=group.dtype)
            weights = group.dtype.type(1) << places
            found.append(_Chunk(group, slice(first, last), shape, weights))
    return tuple(found)


class ChosenBits(NamedTuple):
    """What a chooser keeps of a batch until the sender's words arrive."""

    batch: int
    choices: NDArray[np.uint8]
    labels: Labels

    def __repr__(self) -> str:
        return f"<ChosenBits of vector batch {self.batch}>"


class OfferedLabels(NamedTuple):
    """What a sender keeps of a batch until it has its vectors."""

    batch: int
    labels: Labels

    def __repr__(self) -> str:
        return f"<OfferedLabels of vector batch {self.batch}>"


class VectorChooser:
    """Has the words, and the pairs of seeds of base transfers.

    Modulo 2^64, 5·(3, 4) is computed:

    >>> from lotor.crypto.garbling import HashKeys
    >>> from lotor.crypto.ot import Delta
    >>> delta, pairs = Delta.derive(bytes(32), "run"), bytes(range(256)) * 16
    >>> seeds = b"".join(
    ...     pairs[32 * n + 16 * bit :][:16] for n, bit in enumerate(delta.bits.tolist())
    ... )
    >>> chooser = VectorChooser(pairs, HashKeys(bytes(32)), epoch=0)
    >>> sender = VectorSender(seeds, delta, HashKeys(bytes(32)), epoch=0)
    >>> transfer = VectorTransfer(first=0, words=1, bits=64, length=2)
    >>> columns, chosen = chooser.choose(1, word_bits(np.array([5], np.uint64), 64))
    >>> offered = sender.rows(1, columns, transfer.rows)
    >>> parts, (ours,) = sender.send(offered, [transfer], [np.array([[3, 4]], np.uint64)])
    >>> (theirs,) = chooser.receive(chosen, [transfer], parts)
    >>> (ours + theirs).tolist()
    [[15, 20]]
    """

    __slots__ = ("_masks", "_transfers")

    def __init__(self, pairs: bytes, keys: HashKeys, *, epoch: int) -> None:
        self._transfers = CorrelatedReceiver(pairs)
        self._masks = _Masks(keys, epoch)

    def __repr__(self) -> str:
        return "<VectorChooser>"

    def choose(self, batch: int, choices: NDArray[np.uint8]) -> tuple[bytes, ChosenBits]:
        """The columns for the sender, for the bits of a batch, one for each row.

        Batches come in order. A batch belongs to these bits for the life of the seeds.
        """
        columns, labels = self._transfers.extend(batch_rows(self._masks.epoch, batch), choices)
        return columns, ChosenBits(batch, choices, labels)

    def receive(
        self, chosen: ChosenBits, transfers: Sequence[VectorTransfer], parts: Sequence[bytes]
    ) -> list[Words]:
        """The chooser's shares, (words, length) for each transfer."""
        _check(chosen.labels, transfers)
        due = [size for transfer in transfers for size in transfer.part_bytes]
        if [len(part) for part in parts] != due:
            raise FormatError(
                f"the words of vector batch {chosen.batch} have {sum(map(len, parts))} bytes, and "
                f"{sum(due)} are needed in {len(due)} parts: they were cut, or the two parties do "
                "not agree on what is computed"
            )
        shares, left = list[Words](), iter(parts)
        masks = self._masks.of(chosen.batch, transfers, chosen.labels)
        for number, transfer in enumerate(transfers):
            sums = _Sums(transfer)
            for chunk in transfer.chunks:
                (mine,) = masks.made(number, chunk)
                dtype = chunk.group.dtype
                sent: AnyWords = np.ndarray(chunk.shape, dtype, next(left))
                each = -chosen.choices[chunk.rows].astype(dtype).reshape(chunk.shape[1], -1)
                mine += sent & np.repeat(each, chunk.group.each, axis=1)
                sums.add(chunk, mine)
            shares.append(sums.total())
        return shares


class VectorSender:
    """Has the vectors, the delta, and the seeds that it chose in base transfers."""

    __slots__ = ("_delta", "_masks", "_transfers", "_uses")

    def __init__(self, seeds: bytes, delta: Delta, keys: HashKeys, *, epoch: int) -> None:
        self._transfers = CorrelatedSender(seeds, delta)
        self._delta = delta
        self._masks = _Masks(keys, epoch)
        self._uses = OneUse("vector batch", "the difference of the two vectors")

    def __repr__(self) -> str:
        return "<VectorSender>"

    def rows(self, batch: int, columns: bytes, count: int) -> OfferedLabels:
        """The rows of a batch, for the chooser's columns."""
        return OfferedLabels(
            batch, self._transfers.extend(batch_rows(self._masks.epoch, batch), columns, count)
        )

    def send(
        self,
        offered: OfferedLabels,
        transfers: Sequence[VectorTransfer],
        vectors: Sequence[Words],
    ) -> tuple[list[bytes], list[Words]]:
        """The words for the chooser, in parts, and the sender's shares, (words, length) for each
        transfer.

        `vectors` has for each transfer a vector for each word. Batches come in order, and each
        serves these vectors only.
        """
        _check(offered.labels, transfers)
        wanted = [(transfer.words, transfer.length) for transfer in transfers]
        if [each.shape for each in vectors] != wanted:
            raise InputError(
                f"vectors of shapes {[each.shape for each in vectors]} were given for transfers "
                f"of {wanted}: give one vector for each word"
            )
        content = sha256(repr(transfers).encode())
        for each in vectors:
            content.update(np.ascontiguousarray(each).data)
        self._uses.take((offered.batch,), content.digest())
        parts, shares = list[bytes](), list[Words]()
        masks = self._masks.of(offered.batch, transfers, offered.labels, self._delta.words)
        for number, (transfer, each) in enumerate(zip(transfers, vectors, strict=True)):
            sums = _Sums(transfer)
            packed = {group: _by_block(each, group) for group in transfer.groups}
            for chunk in transfer.chunks:
                zero, one = masks.made(number, chunk)
                np.subtract(zero, one, out=one)
                one += packed[chunk.group][:, np.newaxis]
                parts.append(one.tobytes())
                sums.add(chunk, zero)
            shares.append(-sums.total())
        return parts, shares


def word_bits(words: Words, bits: int) -> NDArray[np.uint8]:
    """The lowest bits of words as choices: bit 0 of all words, then bit 1 of all, and so on.

    >>> word_bits(np.array([1, 2], np.uint64), 2).tolist()
    [1, 0, 0, 1]
    """
    octets = np.ascontiguousarray(words.reshape(-1), "<u8").view(np.uint8).reshape(-1, 8)
    each = np.unpackbits(octets, axis=1, count=bits, bitorder="little")
    return np.ascontiguousarray(each.T).reshape(-1)


class _Masks:
    """The masks of batches: the hashes of labels, block by block for all labels."""

    __slots__ = ("_begun", "_key", "_keys", "_placed", "_room", "epoch")

    def __init__(self, keys: HashKeys, epoch: int) -> None:
        self._keys, self.epoch = keys, epoch
        self._begun: list[Labels] = []
        self._placed: list[Labels] = []
        self._room = _Room()

    def of(
        self,
        batch: int,
        transfers: Sequence[VectorTransfer],
        labels: Labels,
        delta: Labels | None = None,
    ) -> "_Masks":
        """Begin the hashes of a batch's labels, and of those that differ by delta: all transfers
        share that.

        Of a tweak, the first word has the epoch, the transfer, and the row XOR the block; the
        second one the batch, and the transfer and the block once more: the same number is XORed
        with both. So each of them can be told from the two words.
        """
        self._key = self._keys.of(self.epoch, batch, Purpose.PRODUCTS)
        count = max((transfer.first + transfer.rows for transfer in transfers), default=0)
        tweaks = self._room.blocks("tweaks", count)[:-1]
        tweaks[:, 0] = np.arange(count, dtype=np.uint64)
        tweaks[:, 0] |= tweak_base(Place(self.epoch, 0, batch))
        tweaks[:, 1] = batch << _BLOCK_BITS
        self._begun, self._placed = [], []
        for at, each in enumerate(self._labels(labels[:count], delta)):
            begun = self._room.blocks(f"begun {at}", count)
            self._key.encrypt(octets(each), octets(begun))
            placed = self._room.blocks(f"placed {at}", count)[:-1]
            self._begun.append(begun[:-1])
            self._placed.append(np.bitwise_xor(begun[:-1], tweaks, out=placed))
        return self

    def _labels(self, labels: Labels, delta: Labels | None) -> Iterator[Labels]:
        yield labels
        if delta is not None:
            others = self._room.blocks("others", len(labels))[:-1]
            for word in (0, 1):  # numpy is slow where it broadcasts two words at a time
                np.bitwise_xor(labels[:, word], delta[word], out=others[:, word])
            yield others

    def made(self, transfer: int, chunk: _Chunk) -> list[AnyWords]:
        """The masks of some rows in a transfer, for each array of labels; good until the next
        call."""
        blocks = chunk.group.blocks
        numbers = np.arange(blocks, dtype=np.uint64) | np.uint64(transfer << _ROW_BITS)
        found: list[AnyWords] = []
        for at, (begun, placed) in enumerate(zip(self._begun, self._placed, strict=True)):
            count = chunk.size // _BLOCK
            before, after = (
                self._room.blocks("before", count),
                self._room.blocks(f"after {at}", count),
            )
            tweaked = before[:-1].reshape(blocks, -1)
            np.bitwise_xor(placed[chunk.rows].reshape(-1), numbers[:, np.newaxis], out=tweaked)
            self._key.encrypt(octets(before[:-1]), octets(after))
            finished = after[:-1].reshape(blocks, -1)
            finished ^= begun[chunk.rows].reshape(-1)
            found.append(finished.view(chunk.group.dtype).reshape(chunk.shape))
        return found


class _Room:
    """Kept buffers: fresh large arrays cost more than AES does."""

    __slots__ = ("_buffers",)

    def __init__(self) -> None:
        self._buffers: dict[str, Labels] = {}

    def blocks(self, name: str, count: int) -> Labels:
        """So many blocks, and one more: AES wants room behind what it writes."""
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) <= count:
            buffer = self._buffers[name] = np.empty((count + 1, 2), np.uint64)
        return buffer[: count + 1]


class _Sums:
    """Adds up each bit's part as often as the bit counts."""

    __slots__ = ("_by_group", "_transfer")

    def __init__(self, transfer: VectorTransfer) -> None:
        self._transfer = transfer
        self._by_group: dict[_Group, AnyWords] = {}

    def add(self, chunk: _Chunk, parts: AnyWords) -> None:
        summed: AnyWords = np.einsum("bkn,k->bn", parts, chunk.weights)
        if chunk.group in self._by_group:
            self._by_group[chunk.group] += summed
        else:
            self._by_group[chunk.group] = summed

    def total(self) -> Words:
        """(words, length)."""
        total, *others = (self._whole(*each) for each in self._by_group.items())
        for each in others:
            total += each
        return total

    def _whole(self, group: _Group, summed: AnyWords) -> Words:
        rows = np.ascontiguousarray(summed.view(_WHOLE).T).view(group.dtype)
        whole = rows[:, : self._transfer.length].astype(np.uint64, copy=False)
        if group.low:
            whole <<= np.uint64(group.low)
        return whole


def _by_block(vectors: Words, group: _Group) -> AnyWords:
    """(words, length) to (blocks, words · numbers in a block)."""
    words, length = vectors.shape
    room = np.zeros((words, group.blocks * group.each), group.dtype)
    room[:, :length] = vectors
    return np.ascontiguousarray(room.view(_WHOLE).T).view(group.dtype)


def _check(labels: Labels, transfers: Sequence[VectorTransfer]) -> None:
    """One key hashes for a whole batch, and has a tweak for each block."""
    if len(labels) > 1 << _ROW_BITS or len(transfers) > 1 << _TRANSFER_BITS:
        raise InputError(
            f"{len(transfers)} transfers in {len(labels)} rows are too many for one batch: 2^16 "
            "and 2^32 are the most, so use smaller batches"
        )
    for transfer in transfers:
        if not (
            0 <= transfer.first <= transfer.first + transfer.rows <= len(labels)
            and transfer.bits in (1, transfer.ring)
            and 1 <= transfer.ring <= 64
            and min(transfer.words, transfer.length) >= 1
        ):
            raise InputError(
                f"{transfer} does not fit a batch of {len(labels)} rows: words, bits and vectors "
                "need at least one of each, and a ring from 1 to 64 bits"
            )
        if max(group.blocks for group in transfer.groups) > 1 << _BLOCK_BITS:
            raise InputError(
                f"vectors of {transfer.length} numbers are too long for one transfer: take shorter "
                "ones"
            )
    check_security(2 * sum(transfer.hashes for transfer in transfers), "hashes of vectors")

"""Products of one party's numbers and the other's vectors, as shares modulo each prime of P.

Gilboa, "Two Party RSA Key Generation" (1999), on the rows of the extension of Ishai, Kilian,
Nissim and Petrank (2003). The *chooser* has numbers a, and chooses by their bits: a_j in transfer
j. The *sender* has a vector b for each number. From row q the sender derives r0 = H(q) and
r1 = H(q xor delta) for each entry of b; the chooser derives r = H(its row), the one of a_j. The
sender sends r0 - r1 + b, so that the chooser has r0 + a_j·b, and, summed with weights 2^j,
a·b + sum of 2^j·r0. The sender's share is minus that sum. Everything is modulo one prime; a number
modulo P is one number for each.

Against curious parties:
- The sender sees the columns of the extension only: choices under a pseudo-random pad.
- The chooser sees b under r0 or r1, whichever it does not know. It looks random, since TMMO is
  correlation robust (hash.py) where no tweak occurs twice: a tweak has the batch, the row and the
  entry, and each batch has a key of its own.
- Each share alone is uniform, up to WORD_DISTANCE for every word.

A cheating sender could add a number of its choice to a share, and a cheating chooser could test
guesses of delta. Seeds of products may serve other transfers, too, if these keep to batches below
2^48, which are epoch 0, and products to another epoch: rows, hash keys and tweaks are others then.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import Words
from lotor.core.errors import FormatError, InputError
from lotor.crypto.one_use import OneUse
from lotor.crypto.ot.delta import Delta, Labels
from lotor.crypto.ot.extension import CorrelatedReceiver, CorrelatedSender, batch_rows
from lotor.crypto.ot.hash import HashKeys, Place, Purpose, check_security, tweak_base
from lotor.crypto.residues.folding import RESIDUE_BITS, loose, loose_sum, settled, shifted
from lotor.crypto.residues.modulus import Modulus, Residues

_WORD = np.dtype("<u8")
_WORDS_AT_ONCE = 1 << 14  # about 2 MB with all that is computed from them: it stays in caches
_WEIGHTS = np.arange(RESIDUE_BITS, dtype=np.uint64)

Shape: TypeAlias = tuple[int, int]
"""Groups, and numbers in each: the products of a group are summed."""

Block: TypeAlias = tuple[slice, slice]
"""Some entries of vectors, and some primes."""


def product_rows(modulus: Modulus, shape: Shape) -> int:
    """How many transfers the numbers of a batch take; `column_bytes` has the size of the message.

    >>> product_rows(Modulus(2), (1, 6))
    732
    """
    return modulus.count * prod(shape) * RESIDUE_BITS


def product_words(modulus: Modulus, shape: Shape, length: int) -> int:
    """How many words of 8 bytes the sender answers with, for vectors of this length.

    As many hashes are made under the key of the batch: see `security_bits`.
    """
    return product_rows(modulus, shape) * length


class ChosenRows(NamedTuple):
    """What a chooser keeps of a batch until the sender's words arrive."""

    batch: int
    modulus: Modulus
    choices: NDArray[np.uint8]
    """(primes, groups, numbers, bits)"""
    labels: Labels

    def __repr__(self) -> str:
        return f"<ChosenRows of product batch {self.batch}>"


class OfferedRows(NamedTuple):
    """What a sender keeps of a batch until it has its vectors."""

    batch: int
    modulus: Modulus
    labels: Labels
    """(primes, groups, numbers, bits, 2)"""

    def __repr__(self) -> str:
        return f"<OfferedRows of product batch {self.batch}>"


class ProductChooser:
    """Has the numbers, and the pairs of seeds of base transfers.

    `choose` needs nothing of the other party, and can be called ahead of time. In two groups of
    one number each, 2·(3, 4) and -1·(3, 4) are computed:

    >>> from lotor.crypto.garbling import HashKeys
    >>> from lotor.crypto.ot import Delta
    >>> delta, pairs, modulus = Delta.derive(bytes(32), "run"), bytes(range(256)) * 16, Modulus(2)
    >>> seeds = b"".join(
    ...     pairs[32 * n + 16 * bit :][:16] for n, bit in enumerate(delta.bits.tolist())
    ... )
    >>> chooser = ProductChooser(pairs, HashKeys(bytes(32)))
    >>> sender = ProductSender(seeds, delta, HashKeys(bytes(32)))
    >>> columns, chosen = chooser.choose(1, modulus, modulus.residues([[2], [-1]]))
    >>> offered = sender.rows(1, modulus, columns, shape=(2, 1))
    >>> words, share = sender.send(offered, modulus.residues([[[3, 4]], [[3, 4]]]))
    >>> other_share = chooser.receive(chosen, words, length=2)
    >>> modulus.signed(modulus.add(share, other_share)).astype(int).tolist()
    [[6, 8], [-3, -4]]
    """

    __slots__ = ("_hashes", "_transfers")

    def __init__(self, pairs: bytes, keys: HashKeys, *, epoch: int = 0) -> None:
        self._transfers = CorrelatedReceiver(pairs)
        self._hashes = _Hashes(keys, epoch)

    def __repr__(self) -> str:
        return "<ProductChooser>"

    def choose(self, batch: int, modulus: Modulus, numbers: Residues) -> tuple[bytes, ChosenRows]:
        """The columns for the sender, for numbers of shape (groups, numbers, primes).

        Batches come in order. A batch belongs to these numbers for the life of the seeds.
        """
        _check_own(modulus, numbers, 3, "numbers")
        words = np.ascontiguousarray(np.moveaxis(numbers, -1, 0), "<u8")
        octets = words[..., np.newaxis].view(np.uint8)
        choices = np.unpackbits(octets, axis=-1, count=RESIDUE_BITS, bitorder="little")
        columns, labels = self._transfers.extend(batch_rows(self._hashes.epoch, batch), choices)
        return columns, ChosenRows(batch, modulus, choices, labels)

    def receive(self, rows: ChosenRows, words: bytes, length: int) -> Residues:
        """The chooser's shares, (groups, length, primes), for vectors of this length."""
        _check_words(rows, length)
        primes, excess = rows.modulus.columns(3)
        sent = _read_words(words, (length, *rows.choices.shape), primes, rows.batch)
        choices = rows.choices.astype(np.uint64)
        sums = _empty_sums(rows.labels, length)
        for block, (masked,) in self._hashes.of(rows, length, [rows.labels]):
            chosen = sent[block] * choices[block[1]]
            chosen += masked
            sums[block] = loose_sum(chosen, -2, excess[block[1], 0])
        return _weighted(sums, rows.modulus)


class ProductSender:
    """Has the vectors, the delta, and the seeds that it chose in base transfers."""

    __slots__ = ("_delta", "_hashes", "_transfers", "_uses")

    def __init__(self, seeds: bytes, delta: Delta, keys: HashKeys, *, epoch: int = 0) -> None:
        self._transfers = CorrelatedSender(seeds, delta)
        self._delta = delta
        self._hashes = _Hashes(keys, epoch)
        self._uses = OneUse("product batch", "the difference of the two vectors")

    def __repr__(self) -> str:
        return "<ProductSender>"

    def rows(self, batch: int, modulus: Modulus, columns: bytes, shape: Shape) -> OfferedRows:
        """The rows of a batch, for the chooser's columns; it has (groups, numbers) numbers."""
        count = product_rows(modulus, shape)
        labels = self._transfers.extend(batch_rows(self._hashes.epoch, batch), columns, count)
        shaped = labels.reshape(modulus.count, *shape, RESIDUE_BITS, 2)
        return OfferedRows(batch, modulus, shaped)

    def send(self, rows: OfferedRows, vectors: Residues) -> tuple[bytes, Residues]:
        """The words for the chooser, and the sender's shares, (groups, length, primes).

        `vectors` are (groups, numbers, length, primes). Where all groups multiply the same ones,
        broadcast them. Batches come in order, and each serves these vectors only.
        """
        _check_own(rows.modulus, vectors, 4, "vectors")
        groups, numbers = rows.labels.shape[1:3]
        if vectors.shape[:2] != (groups, numbers):
            raise InputError(
                f"product batch {rows.batch} has {groups} groups of {numbers} numbers, and the "
                f"vectors are for {vectors.shape[0]} groups of {vectors.shape[1]}: give one vector "
                "for each number"
            )
        length = vectors.shape[2]
        _check_words(rows, length)
        added = np.ascontiguousarray(vectors.transpose(2, 3, 0, 1))[..., np.newaxis]
        self._uses.take((rows.batch,), f"{rows.labels.shape} {length} ".encode() + added.tobytes())
        primes, excess = rows.modulus.columns(3)
        sent = np.empty((length, *rows.labels.shape[:-1]), _WORD)
        sums = _empty_sums(rows.labels, length)
        both = [rows.labels, rows.labels ^ self._delta.words]
        for block, (zero, one) in self._hashes.of(rows, length, both):
            some = block[1]
            sums[block] = loose_sum(zero, -2, excess[some, 0])
            masked = primes[some] * np.uint64(4) - one
            masked += zero
            masked += added[block]  # below 4·2^61 + 3·2^61 + 2^61, which fits into a word
            sent[block] = settled(masked, primes[some], excess[some])
        return sent.tobytes(), rows.modulus.negate(_weighted(sums, rows.modulus))


class _Hashes:
    """The words that mask products, block by block, so that memory and caches suffice."""

    __slots__ = ("_keys", "epoch")

    def __init__(self, keys: HashKeys, epoch: int) -> None:
        self._keys = keys
        self.epoch = epoch

    def of(
        self, rows: ChosenRows | OfferedRows, length: int, labels: list[Labels]
    ) -> Iterator[tuple[Block, list[Words]]]:
        """Loose words (entries, primes, groups, numbers, bits) of each array of labels."""
        primes, *inner = rows.labels.shape[:-1]
        each = prod(inner)
        key = self._keys.of(self.epoch, rows.batch, Purpose.PRODUCTS)
        place = Place(self.epoch, 0, rows.batch)
        _, excess = rows.modulus.columns(3)
        for some in _slices(primes, each):
            begun = [key.begun(one[some]).reshape(-1, each, 2) for one in labels]
            for part in _slices(length, len(begun[0]) * each):
                tweak = _tweaks(place, _lines(part, some, primes), each)
                hashes = [key.finished(one, tweak) for one in begun]
                shaped = [made.reshape(*made.shape[:2], *inner, 2) for made in hashes]
                words = [loose(made[..., 0], made[..., 1], excess[some]) for made in shaped]
                yield (part, some), words


def _lines(part: slice, some: slice, primes: int) -> Words:
    """A number for each entry and prime of a block, (entries, primes), that no others have."""
    entries = np.arange(part.start, part.stop, dtype=np.uint64)
    within = np.arange(some.start, some.stop, dtype=np.uint64)
    return entries[:, np.newaxis] * np.uint64(primes) + within


def _tweaks(place: Place, lines: Words, each: int) -> Labels:
    """A block, (entries, primes, rows, 2), of what `tweaks` would make for a whole batch."""
    made = np.empty((*lines.shape, each, 2), np.uint64)
    made[..., 0] = tweak_base(place) + lines[..., np.newaxis] * np.uint64(each)
    made[..., 0] += np.arange(each, dtype=np.uint64)
    made[..., 1] = place.round
    return made


def _slices(count: int, each: int) -> Iterator[slice]:
    """Cut an axis, whose every step has so many words, into blocks."""
    step = max(1, _WORDS_AT_ONCE // each)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _empty_sums(labels: Labels, length: int) -> Words:
    primes, groups, _, bits, _ = labels.shape
    return np.empty((length, primes, groups, bits), np.uint64)


def _weighted(sums: Words, modulus: Modulus) -> Residues:
    """(length, primes, groups, bits) as numbers: (groups, length, primes)."""
    primes, excess = modulus.columns(2)
    loosely = shifted(settled(sums, primes, excess), _WEIGHTS, excess)
    totals = settled(loose_sum(loosely, -1, excess[..., 0]), primes[..., 0], excess[..., 0])
    return np.ascontiguousarray(totals.transpose(2, 0, 1))


def _check_own(modulus: Modulus, residues: Residues, axes: int, what: str) -> None:
    if residues.ndim != axes or not residues.size or not modulus.contains(residues):
        raise InputError(
            f"the {what} of products have {axes} axes, the last with a uint64 word below each of "
            f"the {modulus.count} primes, and these {residues.dtype} words of shape "
            f"{residues.shape} do not fit: make them with Modulus.residues"
        )


def _check_words(rows: ChosenRows | OfferedRows, length: int) -> None:
    """One key hashes for a whole batch."""
    if length < 1:
        raise InputError(f"the vectors of products have 1 entry at least, not {length}")
    _, groups, numbers, *_ = rows.labels.shape
    check_security(product_words(rows.modulus, (groups, numbers), length), "words of products")


def _read_words(data: bytes, shape: tuple[int, ...], primes: Words, batch: int) -> Words:
    if len(data) != _WORD.itemsize * prod(shape):
        raise FormatError(
            f"the words of product batch {batch} have {len(data)} bytes, and "
            f"{_WORD.itemsize * prod(shape)} are needed: they were cut, or the two parties do not "
            "agree on the number or the length of vectors"
        )
    words = np.frombuffer(data, _WORD).reshape(shape)
    over = words >= primes
    if over.any():
        entry, prime, group, number, bit = np.unravel_index(over.argmax(), shape)
        raise FormatError(
            f"a word of product batch {batch} is no residue (group {group}, number {number}, bit "
            f"{bit}, entry {entry}, prime {prime}): it was altered, or its sender uses another "
            "modulus"
        )
    return words

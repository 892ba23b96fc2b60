"""Shares of products of words with vectors, on their own."""

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.garbling import HashKey, HashKeys, Purpose
from lotor.crypto.ot import (
    ChosenBits,
    Delta,
    OfferedLabels,
    VectorChooser,
    VectorSender,
    VectorTransfer,
    column_bytes,
    vectors,
    word_bits,
)

DELTA = Delta.derive(bytes(32), "run")
PAIRS = hashlib.shake_256(b"pairs").digest(4096)
SEEDS = b"".join(
    PAIRS[32 * n + 16 * bit : 32 * n + 16 * bit + 16] for n, bit in enumerate(DELTA.bits.tolist())
)
PUBLIC = bytes(range(32))
ENDS = [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]

Words = NDArray[np.uint64]


class Exchange(NamedTuple):
    """All of one batch."""

    columns: bytes
    parts: list[bytes]
    senders: list[Words]
    choosers: list[Words]


def both(epoch: int = 0) -> tuple[VectorChooser, VectorSender]:
    chooser = VectorChooser(PAIRS, HashKeys(PUBLIC), epoch=epoch)
    return chooser, VectorSender(SEEDS, DELTA, HashKeys(PUBLIC), epoch=epoch)


def exchange(
    choices: NDArray[np.uint8],
    transfers: list[VectorTransfer],
    offered: list[Words],
    batch: int = 1,
    epoch: int = 0,
) -> Exchange:
    chooser, sender = both(epoch)
    columns, kept = chooser.choose(batch, choices)
    parts, senders = sender.send(sender.rows(batch, columns, len(choices)), transfers, offered)
    return Exchange(columns, parts, senders, chooser.receive(kept, transfers, parts))


def drawn(seed: int, *shape: int) -> Words:
    """Words of which many are at the ends of some range."""
    generator = np.random.default_rng(seed)
    ends = generator.choice(np.array(ENDS, np.uint64), shape)
    words = generator.integers(0, 2**64, shape, dtype=np.uint64)
    return np.where(generator.random(shape) < 0.4, ends, words)


def lowest(words: Words, ring: int) -> Words:
    return words & np.uint64((1 << ring) - 1)


def check(transfer: VectorTransfer, words: Words, offered: Words, found: Exchange, at: int) -> None:
    """Modulo 2^ring the two shares are the word, or its lowest bits, times the vector."""
    ours, theirs = found.senders[at], found.choosers[at]
    assert ours.shape == theirs.shape == (transfer.words, transfer.length)
    assert ours.dtype == theirs.dtype == np.uint64
    wanted = lowest(words, transfer.bits)[:, np.newaxis] * offered
    np.testing.assert_array_equal(
        lowest(ours + theirs, transfer.ring), lowest(wanted, transfer.ring), str(transfer)
    )


def one(words: Words, offered: Words, ring: int = 64, bits: int = 0, batch: int = 1) -> Exchange:
    """One transfer, of whole words unless `bits` is 1."""
    transfer = VectorTransfer(0, len(words), bits or ring, offered.shape[1], ring)
    found = exchange(word_bits(words, transfer.bits), [transfer], [offered], batch)
    check(transfer, words, offered, found, 0)
    return found


shapes = st.tuples(st.integers(1, 9), st.integers(1, 40))


@settings(max_examples=60)
@given(st.integers(0, 2**32), shapes, st.integers(1, 64), st.booleans(), st.integers(0, 2**48 - 1))
def test_shares_add_up_to_products(
    seed: int, shape: tuple[int, int], ring: int, single: bool, batch: int
) -> None:
    words, offered = drawn(seed, shape[0]), drawn(seed + 1, *shape)
    bits = 1 if single else ring
    found = one(words, offered, ring, bits, batch)
    transfer = VectorTransfer(0, *(shape[0], bits, shape[1], ring))
    assert len(found.columns) == column_bytes(transfer.rows) == 128 * -(-bits * shape[0] // 8)
    assert [len(part) for part in found.parts] == transfer.part_bytes
    assert sum(transfer.part_bytes) == 16 * transfer.hashes


@settings(max_examples=20)
@given(
    st.integers(0, 2**32),
    st.lists(
        st.tuples(
            st.integers(1, 5), st.lists(st.integers(1, 64), min_size=1, max_size=3), st.booleans()
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_many_transfers_of_a_batch(seed: int, sources: list[tuple[int, list[int], bool]]) -> None:
    """The same rows may choose several times: in smaller rings their first bits do."""
    rng = np.random.default_rng(seed)
    choices, transfers, words, offered = list[NDArray[np.uint8]](), [], [], []
    first = 0
    for count, rings, single in sources:
        chosen = drawn(seed + first, count)
        bits = 1 if single else max(rings)
        choices.append(word_bits(chosen, bits))
        for ring in rings:
            length = int(rng.integers(1, 20))
            transfers.append(VectorTransfer(first, count, 1 if single else ring, length, ring))
            words.append(chosen)
            offered.append(drawn(seed + len(words), count, length))
        first += count * bits
    order = rng.permutation(len(transfers)).tolist()
    transfers, words, offered = ([each[n] for n in order] for each in (transfers, words, offered))
    found = exchange(np.concatenate(choices), transfers, offered)
    for at, transfer in enumerate(transfers):
        check(transfer, words[at], offered[at], found, at)
    assert [len(part) for part in found.parts] == [
        size for transfer in transfers for size in transfer.part_bytes
    ]


@pytest.mark.parametrize("ring", range(1, 5))
def test_all_words_of_small_rings(ring: int) -> None:
    every = np.arange(1 << ring, dtype=np.uint64)
    one(every, np.tile(every, (len(every), 1)), ring)
    one(every[:2], np.tile(every, (2, 1)), ring, bits=1)


@pytest.mark.parametrize("ring", [*range(15, 18), *range(31, 34), 47, 48, 49, 51, 59, 63, 64])
def test_extreme_words(ring: int) -> None:
    """Long vectors of many words, so that high bits have narrower masks; many parts, too."""
    ends = np.array([*ENDS, 2**ring - 1, 2 ** (ring - 1)], np.uint64)
    words = np.tile(ends, 8)
    offered = np.tile(ends, (len(words), 10))
    one(words, offered, ring)
    if ring > 32:
        transfer = VectorTransfer(0, len(words), ring, offered.shape[1], ring)
        assert [group.dtype.itemsize for group in transfer.groups] == [8, 4, 2]
        assert len(transfer.part_bytes) > 3


def test_narrower_masks_spare_bytes() -> None:
    """With 8, 4 and 2 bytes a number for 32, 16 and 16 bits, about 5.5 bytes each."""
    transfer = VectorTransfer(0, 100, 64, 80)
    assert sum(transfer.part_bytes) == 100 * 80 * (32 * 8 + 16 * 4 + 16 * 2)
    assert transfer.hashes * 16 == sum(transfer.part_bytes)
    assert transfer.rows == 6400


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9), st.integers(1, 64))
def test_bits_of_words(words: list[int], bits: int) -> None:
    found = word_bits(np.array(words, np.uint64), bits)
    assert found.tolist() == [word >> bit & 1 for bit in range(bits) for word in words]
    assert np.array_equal(word_bits(np.array([words], np.uint64).T, bits), found)


@pytest.mark.parametrize(
    ("setting", "size", "count"),
    [
        ("_AT_ONCE", 1, 59),
        ("_AT_ONCE", 10_000, 20),
        ("_AT_ONCE", 1 << 22, 1),
        ("_WORTH", 1, 3),
        ("_WORTH", 1500, 2),
        ("_WORTH", 1 << 22, 1),
    ],
)
def test_parts_of_any_size_give_the_same_products(
    setting: str, size: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both parties must cut in the same way: these are constants of the wire."""
    words, offered = drawn(3, 7), drawn(4, 7, 45)
    usual = one(words, offered, 59)
    monkeypatch.setattr(vectors, setting, size)
    forget()
    found = one(words, offered, 59)
    assert len(found.parts) == count
    # Masks belong to rows, whatever part these travel in, but are others in other groups.
    same = setting == "_AT_ONCE" or count == 1
    assert np.array_equal(found.senders, usual.senders) == same


def forget() -> None:
    """How transfers were divided."""
    vectors._groups.cache_clear()
    vectors._chunks.cache_clear()


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing of a test's own settings is kept."""
    yield
    forget()


def test_the_construction_as_published() -> None:
    """Number by number: r0 - r1 + v in as many bits as count."""
    chooser, sender = both(epoch=2)
    words, offered = drawn(5, 3), drawn(6, 3, 5)
    transfer = VectorTransfer(first=4, words=3, bits=20, length=5, ring=20)
    before = VectorTransfer(first=0, words=4, bits=1, length=1)
    choices = np.concatenate([np.ones(4, np.uint8), word_bits(words, 20)])
    columns, kept = chooser.choose(9, choices)
    rows = sender.rows(9, columns, len(choices))
    (_, part), (_, share) = sender.send(rows, [before, transfer], [drawn(7, 4, 1), offered])
    key = HashKey(PUBLIC, epoch=2, batch=9, purpose=Purpose.PRODUCTS)
    ((low, high, dtype, blocks),) = transfer.groups
    assert (low, high, dtype.itemsize, blocks) == (0, 20, 4, 2)
    sent = np.frombuffer(part, "<u4").reshape(2, 20, 3, 4)
    sums = np.zeros((3, 8), np.uint64)
    numbers = np.zeros((3, 8), np.uint32)
    numbers[:, :5] = offered
    for block, bit, word in product(range(2), range(20), range(3)):
        row = 4 + 3 * bit + word
        q = rows.labels[row]
        assert (kept.labels[row] == q ^ DELTA.words * np.uint64(choices[row])).all()
        # Epoch and row, and the batch: the transfer and the block are XORed with both.
        tweak = np.array([2 << 48 | row, 9 << 16], np.uint64) ^ np.uint64(1 << 32 | block)
        zero, other = (
            key.hashed(label[np.newaxis], tweak[np.newaxis]).view("<u4")[0]
            for label in (q, q ^ DELTA.words)
        )
        here = slice(4 * block, 4 * block + 4)
        assert np.array_equal(sent[block, bit, word], zero - other + numbers[word, here])
        sums[word, here] += zero.astype(np.uint64) << np.uint64(bit)
    assert np.array_equal(lowest(-sums[:, :5], 20), lowest(share, 20))


def digest(found: Exchange) -> list[str]:
    return [
        hashlib.sha256(b"".join(bytes(part) for part in parts)).hexdigest()[:16]
        for parts in ([found.columns], found.parts, found.senders, found.choosers)
    ]


def test_known_answer() -> None:
    """Other bytes would make peers disagree: raise the wire version of those who use it."""
    words, offered = np.arange(1, 9, dtype=np.uint64) * np.uint64(3**39), drawn(8, 8, 300)
    transfers = [
        VectorTransfer(0, 8, 64, 33),
        VectorTransfer(0, 8, 51, 300, 51),
        VectorTransfer(512, 8, 1, 2),
    ]
    choices = np.concatenate([word_bits(words, 64), word_bits(words, 1)])
    whole = [offered[:, :33], offered, offered[:, :2]]
    assert digest(exchange(choices, transfers, whole, batch=5)) == KNOWN


KNOWN = ["3fc09814ed422cd4", "419ea232939a5885", "058a5c7c5d2c57ed", "7f254bbcde7747d5"]


@pytest.mark.parametrize("ends", [(0, 0), (-1, -1), (0, -1), (1, 0)])
@pytest.mark.parametrize(("ring", "bits"), [(64, 64), (51, 51), (64, 1)])
def test_each_share_alone_looks_uniform(ends: tuple[int, int], ring: int, bits: int) -> None:
    """Also of products of zeros and of ones; keys are fixed."""
    word, number = (np.uint64(end % 2**64) for end in ends)
    count = 10 * 64 // bits
    found = one(np.full(count, word), np.full((count, 40), number), ring, bits)
    (senders,), (choosers,) = found.senders, found.choosers
    sent = np.frombuffer(b"".join(found.parts), "<u8")
    assert len(np.unique(sent)) == len(sent)
    for some, top in ((senders, ring), (choosers, ring), (sent, 64)):
        for shift in (0, top - 4):
            sixteenths = np.bincount((some.ravel() >> np.uint64(shift)) % 16, minlength=16)
            assert chisquare(sixteenths).pvalue > 0.001


def test_no_tweak_occurs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over blocks, rows, groups, parts, transfers, batches and epochs.

    Where pi(x) is zero, what is encrypted after the labels is a tweak.
    """
    read: list[Words] = []
    made = HashKey.__init__

    def without_pi(key: HashKey, public: bytes, **place: Any) -> None:
        made(key, public, **place)
        keys.add(key.begun(np.zeros((1, 2), np.uint64)).tobytes())

        def encrypt(before: memoryview, after: memoryview) -> int:
            read.append(np.frombuffer(before, np.uint64).reshape(-1, 2).copy())
            np.frombuffer(after, np.uint64)[:] = 0
            return len(before)

        key.encrypt = encrypt

    monkeypatch.setattr(HashKey, "__init__", without_pi)
    monkeypatch.setattr(vectors, "_AT_ONCE", 3000)
    monkeypatch.setattr(vectors, "_WORTH", 1)
    forget()
    keys, all_ = set[bytes](), set[bytes]()
    transfers = [
        VectorTransfer(0, 4, 64, 30),
        VectorTransfer(0, 4, 51, 70, 51),
        VectorTransfer(0, 2, 51, 70, 51),
        VectorTransfer(256, 9, 1, 5),
        VectorTransfer(256, 9, 1, 5),
    ]
    assert len(transfers[1].groups) == 3
    hashes = sum(transfer.hashes for transfer in transfers)
    offered = [drawn(1, each.words, each.length) for each in transfers]
    for epoch, batch in product((0, 1), (1, 2)):
        chooser, sender = both(epoch)
        columns, kept = chooser.choose(batch, word_bits(drawn(9, 67), 4)[:265])
        parts, _ = sender.send(sender.rows(batch, columns, 265), transfers, offered)
        assert np.array_equal(read[0] ^ DELTA.words, read[1])
        zeros, ones = (np.concatenate(read[n::2]).view("V16").ravel().tolist() for n in (2, 3))
        assert zeros == ones  # the two labels of a row have the same
        assert len(set(zeros)) == hashes
        read.clear()
        chooser.receive(kept, transfers, parts)
        assert np.concatenate(read[1:]).view("V16").ravel().tolist() == zeros
        read.clear()
        assert all_.isdisjoint(zeros)
        all_ |= set(zeros)
    assert len(keys) == 4


class Kept(NamedTuple):
    chooser: VectorChooser
    sender: VectorSender
    columns: bytes
    chosen: ChosenBits
    offered: OfferedLabels
    transfers: list[VectorTransfer]
    vectors: list[Words]


def batch_of(number: int, shape: tuple[int, int] = (2, 3)) -> Kept:
    chooser, sender = both()
    transfers = [VectorTransfer(0, shape[0], 64, shape[1]), VectorTransfer(0, shape[0], 51, 2, 51)]
    columns, chosen = chooser.choose(number, word_bits(drawn(11, shape[0]), 64))
    offered = sender.rows(number, columns, transfers[0].rows)
    values = [drawn(12, shape[0], each.length) for each in transfers]
    return Kept(chooser, sender, columns, chosen, offered, transfers, values)


def test_a_batch_serves_one_content() -> None:
    chooser, sender, columns, _, offered, transfers, values = batch_of(4)
    sent, shares = sender.send(offered, transfers, values)
    again, same = sender.send(offered, transfers, values)
    assert again == sent
    assert all(map(np.array_equal, shares, same))
    bits = word_bits(drawn(11, 2), 64)
    assert chooser.choose(4, bits)[0] == columns
    used = r"vector batch 4 was used already.*difference of the two"
    for place in np.ndindex(2, 3):
        other = [values[0].copy(), values[1]]
        other[0][place] ^= np.uint64(1 << 63)
        with pytest.raises(CryptoError, match=used):
            sender.send(offered, transfers, other)
    with pytest.raises(CryptoError, match=used):
        sender.send(offered, transfers[:1], values[:1])
    with pytest.raises(CryptoError, match=used):  # the same words, taken for others
        sender.send(offered, transfers[::-1], values[::-1])
    with pytest.raises(CryptoError, match="was used already"):
        chooser.choose(4, bits ^ np.uint8(1))
    with pytest.raises(CryptoError, match="was used already"):
        sender.rows(4, bytes(len(columns)), 128)
    later = sender.rows(5, chooser.choose(5, bits)[0], 128)
    sender.send(later, transfers, values)
    with pytest.raises(CryptoError, match="in order"):
        sender.send(offered, transfers, values)


def test_vectors_are_told_apart_by_their_transfers() -> None:
    """The same bytes in another shape are other vectors."""
    chooser, sender = both()
    columns, _ = chooser.choose(1, np.ones(6, np.uint8))
    rows = sender.rows(1, columns, 6)
    sender.send(rows, [VectorTransfer(0, 2, 1, 3)], [drawn(1, 2, 3)])
    with pytest.raises(CryptoError, match="was used already"):
        sender.send(rows, [VectorTransfer(0, 3, 1, 2)], [drawn(1, 2, 3).reshape(3, 2)])


def test_batches_can_be_chosen_ahead_of_others() -> None:
    chooser, sender = both()
    transfer = VectorTransfer(0, 2, 64, 3)
    words, values = [drawn(n, 2) for n in range(3)], [drawn(n + 5, 2, 3) for n in range(3)]
    chosen = [chooser.choose(n, word_bits(words[n], 64)) for n in range(3)]
    offered = [sender.rows(n, columns, 128) for n, (columns, _) in enumerate(chosen)]
    for n, ((columns, kept), rows) in enumerate(zip(chosen, offered, strict=True)):
        parts, shares = sender.send(rows, [transfer], [values[n]])
        got = Exchange(columns, parts, shares, chooser.receive(kept, [transfer], parts))
        check(transfer, words[n], values[n], got, 0)


def test_another_batch_or_epoch_has_nothing_in_common() -> None:
    words, offered = drawn(13, 3), drawn(14, 3, 9)
    transfer = VectorTransfer(0, 3, 64, 9)
    all_ = [
        exchange(word_bits(words, 64), [transfer], [offered], batch, epoch)
        for batch in (1, 2)
        for epoch in (0, 1)
    ]
    columns = {found.columns[i : i + 8] for found in all_ for i in range(0, 3072, 8)}
    assert len(columns) == 4 * 384
    sent = [np.frombuffer(b"".join(found.parts), "<u8") for found in all_]
    assert len(np.unique(np.concatenate(sent))) == sum(map(len, sent))


def test_messages_of_another_length_are_refused() -> None:
    chooser, sender, columns, kept, offered, transfers, values = batch_of(6)
    for bad in (columns[:-1], columns + bytes(1), b""):
        with pytest.raises(FormatError, match="columns of transfer batch 6"):
            sender.rows(6, bad, 128)
    parts, _ = sender.send(offered, transfers, values)
    due = sum(map(len, parts))
    said = rf"words of vector batch 6 have .* {due} are needed in {len(parts)} parts"
    for wrong in (
        [],
        parts[:-1],
        [*parts, b""],
        [parts[0][:-1], *parts[1:]],
        [*parts[:-1], parts[-1] + bytes(1)],
        [b"".join(parts)],
    ):
        with pytest.raises(FormatError, match=said):
            chooser.receive(kept, transfers, wrong)
    with pytest.raises(FormatError, match="do not agree on what is computed"):
        chooser.receive(kept, transfers[:1], parts)
    chooser.receive(kept, transfers, parts)


@pytest.mark.parametrize(
    "transfer",
    [
        VectorTransfer(1, 2, 64, 3),  # one row too many
        VectorTransfer(-1, 2, 64, 3),
        VectorTransfer(0, 3, 64, 3),
        VectorTransfer(0, 0, 64, 3),
        VectorTransfer(0, -1, 64, 3),
        VectorTransfer(0, 2, 64, 0),
        VectorTransfer(0, 2, 63, 3),
        VectorTransfer(0, 2, 2, 3),
        VectorTransfer(0, 2, 0, 3),
        VectorTransfer(0, 2, 0, 3, 0),
        VectorTransfer(0, 1, 65, 3, 65),
        VectorTransfer(0, 1, 1, 3, 65),
        VectorTransfer(0, 1, 1, 2**17 + 1),  # more blocks than tweaks
    ],
)
def test_transfers_that_do_not_fit_are_refused(transfer: VectorTransfer) -> None:
    chooser, sender, _, kept, offered, _, _ = batch_of(6)
    with pytest.raises(InputError, match=r"does not fit a batch of 128 rows|too long for one"):
        chooser.receive(kept, [transfer], [])
    with pytest.raises(InputError, match=r"does not fit a batch of 128 rows|too long for one"):
        sender.send(offered, [transfer], [np.zeros((1, 1), np.uint64)])


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (6,), (1, 2, 3)])
def test_vectors_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    _, sender, _, _, offered, transfers, values = batch_of(6)
    with pytest.raises(InputError, match="give one vector for each word"):
        sender.send(offered, transfers, [np.zeros(shape, np.uint64), values[1]])
    with pytest.raises(InputError, match="give one vector for each word"):
        sender.send(offered, transfers, values[:1])


def test_too_many_hashes_are_refused() -> None:
    """At most 2^28 for a key: twice as many as blocks."""
    chooser, sender, _, kept, offered, _, _ = batch_of(6)
    most = [VectorTransfer(0, 1, 1, 2**17)] * 2**11
    with pytest.raises(FormatError, match="are needed"):
        chooser.receive(kept, most, [])
    for check_ in (
        lambda: chooser.receive(kept, [*most, most[0]], []),
        lambda: sender.send(offered, [*most, most[0]], []),
    ):
        with pytest.raises(InputError, match="hashes of vectors under one hash key leave"):
            check_()


def test_a_batch_may_have_no_vectors() -> None:
    """Rows may serve garbled circuits alone."""
    chooser, sender, _, kept, offered, _, _ = batch_of(6)
    assert sender.send(offered, [], []) == ([], [])
    assert chooser.receive(kept, [], []) == []


def test_too_many_transfers_are_refused() -> None:
    """Their number has 16 bits of a tweak."""
    chooser, _, _, kept, _, _, _ = batch_of(6)
    with pytest.raises(InputError, match=r"65537 transfers in 128 rows are too many"):
        chooser.receive(kept, [VectorTransfer(0, 1, 1, 1)] * (2**16 + 1), [])


def test_batches_have_numbers() -> None:
    chooser, sender = both()
    for batch in (-1, 2**48):
        with pytest.raises(InputError, match=rf"from 0 to 2\^48 - 1, not {batch}"):
            chooser.choose(batch, np.ones(1, np.uint8))
        with pytest.raises(InputError, match=rf"from 0 to 2\^48 - 1, not {batch}"):
            sender.rows(batch, bytes(128), 1)
    one(drawn(1, 1), drawn(2, 1, 3), batch=2**48 - 1)


def test_reprs_tell_nothing() -> None:
    chooser, sender, _, kept, offered, _, _ = batch_of(3)
    assert (repr(chooser), repr(sender)) == ("<VectorChooser>", "<VectorSender>")
    assert repr(kept) == "<ChosenBits of vector batch 3>"
    assert repr(offered) == "<OfferedLabels of vector batch 3>"

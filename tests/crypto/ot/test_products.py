"""Shares of products modulo each prime, on their own."""

import hashlib
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.garbling import HashKey, HashKeys, Place, Purpose, tweaks
from lotor.crypto.ot import (
    Delta,
    Labels,
    OfferedRows,
    ProductChooser,
    ProductSender,
    column_bytes,
    product_rows,
    product_words,
    products,
)
from lotor.crypto.residues import Modulus, Residues

DELTA = Delta.derive(bytes(32), "run")
PAIRS = hashlib.shake_256(b"pairs").digest(4096)
SEEDS = b"".join(
    PAIRS[32 * n + 16 * bit : 32 * n + 16 * bit + 16] for n, bit in enumerate(DELTA.bits.tolist())
)
PUBLIC = bytes(range(32))
TWO = Modulus(2)


class Exchange(NamedTuple):
    """All of one batch."""

    columns: bytes
    words: bytes
    senders: Residues
    choosers: Residues


def both(epoch: int = 0) -> tuple[ProductChooser, ProductSender]:
    chooser = ProductChooser(PAIRS, HashKeys(PUBLIC), epoch=epoch)
    return chooser, ProductSender(SEEDS, DELTA, HashKeys(PUBLIC), epoch=epoch)


def exchange(
    modulus: Modulus, numbers: Residues, vectors: Residues, batch: int = 1, epoch: int = 0
) -> Exchange:
    chooser, sender = both(epoch)
    columns, kept = chooser.choose(batch, modulus, numbers)
    words, senders = sender.send(sender.rows(batch, modulus, columns, numbers.shape[:2]), vectors)
    return Exchange(columns, words, senders, chooser.receive(kept, words, vectors.shape[2]))


def drawn(seed: int, modulus: Modulus, *shape: int) -> Residues:
    """Residues of which many are 0, 1 or p - 1."""
    generator = np.random.default_rng(seed)
    shape = (*shape, modulus.count)
    any_ = modulus.reduced(generator.integers(0, 2**64, (*shape, 2), dtype=np.uint64))
    ends = [np.broadcast_to(modulus.residues(end), shape) for end in (0, 1, -1)]
    return np.choose(generator.integers(0, 5, shape), [*ends, any_, any_])


def check(modulus: Modulus, numbers: Residues, vectors: Residues, found: Exchange) -> None:
    a, b = modulus.whole(numbers), modulus.whole(vectors)
    wanted = (a[..., np.newaxis] * b).sum(axis=1) % modulus.product
    assert found.senders.shape == found.choosers.shape == (*wanted.shape, modulus.count)
    assert modulus.contains(found.senders)
    assert modulus.contains(found.choosers)
    assert (modulus.whole(modulus.add(found.senders, found.choosers)) == wanted).all()


@given(
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 5)),
    st.integers(0, 2**48 - 1),
)
def test_shares_add_up_to_the_sums_of_products(
    seed: int, primes: int, shape: tuple[int, int, int], batch: int
) -> None:
    modulus, (groups, numbers, length) = Modulus(primes), shape
    a = drawn(seed, modulus, groups, numbers)
    b = drawn(seed + 1, modulus, groups, numbers, length)
    found = exchange(modulus, a, b, batch)
    check(modulus, a, b, found)
    assert len(found.columns) == column_bytes(product_rows(modulus, (groups, numbers)))
    assert len(found.words) == 8 * product_words(modulus, (groups, numbers), length)
    assert product_words(modulus, (groups, numbers), length) == primes * 61 * np.prod(shape)


def test_extreme_residues() -> None:
    """0, 1, -1 and each power of two, times each other."""
    modulus = Modulus(3)
    ends = [0, 1, -1, *(2**j for j in range(0, 183, 7))]
    a = modulus.residues(ends)[:, np.newaxis]
    b = np.broadcast_to(modulus.residues(ends), (len(ends), 1, len(ends), 3))
    check(modulus, a, b, exchange(modulus, a, b))


def test_groups_multiply_a_matrix() -> None:
    """A = V·R, where every group has the columns of V."""
    modulus = Modulus(3)
    r, v = drawn(1, modulus, 4, 5), drawn(2, modulus, 6, 4)
    vectors = np.broadcast_to(v.transpose(1, 0, 2), (5, 4, 6, 3))
    found = exchange(modulus, r.transpose(1, 0, 2), vectors)
    total = modulus.whole(modulus.add(found.senders, found.choosers))
    assert (modulus.whole(v) @ modulus.whole(r) % modulus.product == total.T).all()


@pytest.mark.parametrize("at_once", [1, 61 * 6, 61 * 6 * 2, 61 * 6 * 3 * 2 + 5])
def test_blocks_of_any_size_give_the_same(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    modulus = Modulus(3)
    a, b = drawn(3, modulus, 2, 3), drawn(4, modulus, 2, 3, 5)
    whole = exchange(modulus, a, b)
    monkeypatch.setattr(products, "_WORDS_AT_ONCE", at_once)
    parts = exchange(modulus, a, b)
    assert parts[:2] == whole[:2]
    assert np.array_equal(parts.senders, whole.senders)
    assert np.array_equal(parts.choosers, whole.choosers)


def test_the_construction_as_published() -> None:
    """Word by word: r0 - r1 + b, where rows and tweaks are counted as entry, prime, number, bit."""
    chooser, sender = both(epoch=2)
    a, b = drawn(5, TWO, 1, 3), drawn(6, TWO, 1, 3, 2)
    columns, kept = chooser.choose(9, TWO, a)
    rows = sender.rows(9, TWO, columns, (1, 3))
    sent, _ = sender.send(rows, b)
    words = np.frombuffer(sent, "<u8").tolist()
    key = HashKey(PUBLIC, epoch=2, batch=9, purpose=Purpose.PRODUCTS)
    tweak = tweaks(Place(2, 0, 9), len(words))
    places = np.ndindex(2, 2, 3, 61)
    for word, i, (entry, prime, number, bit) in zip(words, tweak, places, strict=True):
        q, p = rows.labels[prime, 0, number, bit], TWO.primes[prime]
        zero, one = (reduced(key, label, i, p) for label in (q, q ^ DELTA.words))
        assert word == (zero - one + int(b[0, number, entry, prime])) % p
        choice = int(a[0, number, prime]) >> bit & 1
        assert (kept.labels[prime, 0, number, bit] == q ^ DELTA.words * np.uint64(choice)).all()


def reduced(key: HashKey, label: Labels, tweak: Labels, prime: int) -> int:
    low, high = key.hashed(label, tweak).tolist()
    return int((low % 2**61 + (high << 61)) % prime)


def test_known_answer() -> None:
    """Recorded from the first version: other bytes would make peers disagree."""
    a = TWO.residues([[3**70, -1, 0], [1, 7**40, -(5**50)]])
    b = TWO.residues([[[n * 11**30, 1 - n] for n in range(3)]] * 2)
    found = exchange(TWO, a, b, batch=5)
    digests = [hashlib.sha256(bytes(part)).hexdigest()[:16] for part in found]
    assert digests == KNOWN


KNOWN = ["ce2ec1b68bedca89", "8723ad57f3c7c870", "003f600f03dc4280", "40392189dc427f32"]


@pytest.mark.parametrize("ends", [(0, 0), (-1, -1), (0, -1), (1, 0)])
def test_each_share_alone_looks_uniform(ends: tuple[int, int]) -> None:
    """Also of products of zeros and of ones; keys are fixed."""
    a = np.broadcast_to(TWO.residues(ends[0]), (40, 1, 2))
    b = np.broadcast_to(TWO.residues(ends[1]), (40, 1, 40, 2))
    found = exchange(TWO, a, b)
    words = np.frombuffer(found.words, "<u8")
    assert len(np.unique(words)) == len(words)
    for some in (found.senders, found.choosers, words):
        for shift in (0, 57):
            sixteenths = np.bincount((some.ravel() >> np.uint64(shift)) % 16, minlength=16)
            assert chisquare(sixteenths).pvalue > 0.001


def test_no_tweak_occurs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over blocks, primes, entries and batches; each batch has its own key, too."""
    seen: list[bytes] = []
    finished, keys = HashKey.finished, set()

    def recorded(key: HashKey, begun: Labels, tweak: Labels) -> Labels:
        seen.extend(tweak.reshape(-1, 2).view("V16").ravel().tolist())
        keys.add(key)
        return finished(key, begun, tweak)

    monkeypatch.setattr(HashKey, "finished", recorded)
    monkeypatch.setattr(products, "_WORDS_AT_ONCE", 200)
    chooser, sender = both()
    a, b = drawn(9, TWO, 2, 2), drawn(10, TWO, 2, 2, 3)
    for batch in (1, 2):
        columns, kept = chooser.choose(batch, TWO, a)
        rows = sender.rows(batch, TWO, columns, (2, 2))
        sent, _ = sender.send(rows, b)
        count = product_words(TWO, (2, 2), 3)
        wanted = tweaks(Place(0, 0, batch), count).view("V16").ravel().tolist()
        assert sorted(seen) == sorted(2 * wanted)  # for both labels of a row
        seen.clear()
        chooser.receive(kept, sent, 3)
        assert sorted(seen) == sorted(wanted)
        seen.clear()
    assert len(keys) == 4  # of two batches, at two parties


def test_a_batch_serves_one_content() -> None:
    chooser, sender = both()
    a, b = drawn(11, TWO, 1, 2), drawn(12, TWO, 1, 2, 3)
    columns, _ = chooser.choose(4, TWO, a)
    rows = sender.rows(4, TWO, columns, (1, 2))
    sent, share = sender.send(rows, b)
    again, same = sender.send(rows, b)
    assert again == sent
    assert np.array_equal(same, share)
    assert chooser.choose(4, TWO, a)[0] == columns
    other = TWO.add(b, TWO.residues(1))
    with pytest.raises(CryptoError, match=r"batch 4 was used already.*difference of the two"):
        sender.send(rows, other)
    with pytest.raises(CryptoError, match="was used already"):
        chooser.choose(4, TWO, TWO.add(a, TWO.residues(1)))
    with pytest.raises(CryptoError, match="was used already"):
        sender.rows(4, TWO, bytes(len(columns)), (1, 2))
    later = sender.rows(5, TWO, chooser.choose(5, TWO, a)[0], (1, 2))
    sender.send(later, b)
    with pytest.raises(CryptoError, match="in order"):
        sender.send(rows, b)


def test_a_batch_serves_one_modulus() -> None:
    """The same rows and words, but reduced modulo other primes."""
    chooser, sender = both()
    three = Modulus(3)
    columns, _ = chooser.choose(1, TWO, TWO.residues([[1, 1, 1]]))
    sender.send(sender.rows(1, TWO, columns, (1, 3)), TWO.residues(np.ones((1, 3, 1), int)))
    rows = sender.rows(1, three, columns, (1, 2))
    with pytest.raises(CryptoError, match="was used already"):
        sender.send(rows, three.residues(np.ones((1, 2, 1), int)))


def test_a_batch_can_be_chosen_ahead_of_others() -> None:
    chooser, sender = both()
    a, b = [drawn(n, TWO, 1, 2) for n in range(3)], [drawn(n, TWO, 1, 2, 2) for n in range(3)]
    chosen = [chooser.choose(n, TWO, a[n]) for n in range(3)]
    offered = [sender.rows(n, TWO, columns, (1, 2)) for n, (columns, _) in enumerate(chosen)]
    for n, ((columns, kept), rows) in enumerate(zip(chosen, offered, strict=True)):
        words, share = sender.send(rows, b[n])
        got = Exchange(columns, words, share, chooser.receive(kept, words, 2))
        check(TWO, a[n], b[n], got)


def test_another_batch_or_epoch_has_nothing_in_common() -> None:
    a, b = drawn(13, TWO, 1, 2), drawn(14, TWO, 1, 2, 2)
    all_ = [exchange(TWO, a, b, batch, epoch) for batch in (1, 2) for epoch in (0, 1)]
    columns = {found.columns[i : i + 16] for found in all_ for i in range(0, 3840, 16)}
    assert len(columns) == 4 * 240
    words = np.concatenate([np.frombuffer(found.words, "<u8") for found in all_])
    assert len(np.unique(words)) == len(words)


def altered(words: bytes, place: int, word: int) -> bytes:
    return words[: 8 * place] + word.to_bytes(8, "little") + words[8 * place + 8 :]


@pytest.mark.parametrize("prime", [0, 1])
def test_words_that_are_no_residues_are_refused(prime: int) -> None:
    chooser, sender = both()
    columns, kept = chooser.choose(6, TWO, drawn(15, TWO, 2, 3))
    rows = sender.rows(6, TWO, columns, (2, 3))
    words, _ = sender.send(rows, drawn(16, TWO, 2, 3, 4))
    place = int(np.ravel_multi_index((3, prime, 1, 2, 60), (4, 2, 2, 3, 61)))
    p = TWO.primes[prime]
    chooser.receive(kept, altered(words, place, p - 1), 4)
    for bad in (p, p + 1, 2**61, 2**64 - 1):
        said = rf"batch 6 .*\(group 1, number 2, bit 60, entry 3, prime {prime}\)"
        with pytest.raises(FormatError, match=said):
            chooser.receive(kept, altered(words, place, bad), 4)


def test_messages_of_another_length_are_refused() -> None:
    chooser, sender = both()
    columns, kept = chooser.choose(6, TWO, drawn(15, TWO, 2, 3))
    for bad in (columns[:-1], columns + bytes(1), b""):
        with pytest.raises(FormatError, match="columns of transfer batch 6"):
            sender.rows(6, TWO, bad, (2, 3))
    words, _ = sender.send(sender.rows(6, TWO, columns, (2, 3)), drawn(16, TWO, 2, 3, 4))
    for cut in (words[:-1], words + bytes(8), b""):
        with pytest.raises(FormatError, match=r"words of product batch 6 have .* 23424 are needed"):
            chooser.receive(kept, cut, 4)
    with pytest.raises(FormatError, match="17568 are needed"):
        chooser.receive(kept, words, 3)


def test_own_values_that_are_no_residues_are_refused() -> None:
    chooser, sender = both()
    good, vectors = drawn(17, TWO, 2, 3), drawn(18, TWO, 2, 3, 4)
    large = good.copy()
    large[1, 2, 0] = TWO.primes[0]
    signed = np.array(good, np.int64).astype(object)
    for bad in (large, good[0], signed, good[..., :1], good[:, :0]):
        with pytest.raises(InputError, match="the numbers of products"):
            chooser.choose(1, TWO, bad)
    rows = sender.rows(1, TWO, chooser.choose(1, TWO, good)[0], (2, 3))
    for bad in (good, vectors[..., :1], vectors[:, :, :0]):
        with pytest.raises(InputError, match="the vectors of products"):
            sender.send(rows, bad)
    for bad in (vectors[:1], vectors[:, :2]):
        with pytest.raises(InputError, match="2 groups of 3 numbers"):
            sender.send(rows, bad)
    sender.send(rows, vectors)


def test_batches_have_numbers_and_bounds() -> None:
    chooser, sender = both()
    one = TWO.residues([[1]])
    for batch in (-1, 2**48):
        with pytest.raises(InputError, match=rf"from 0 to 2\^48 - 1, not {batch}"):
            chooser.choose(batch, TWO, one)
    columns, kept = chooser.choose(2**48 - 1, TWO, one)
    rows = sender.rows(2**48 - 1, TWO, columns, (1, 1))
    too_long = np.broadcast_to(TWO.residues(1), (1, 1, 2**28 // 122 + 1, 2))
    with pytest.raises(InputError, match="words of products under one hash key leave"):
        chooser.receive(kept, b"", 2**28 // 122 + 1)
    with pytest.raises(InputError, match="words of products under one hash key leave"):
        sender.send(rows, too_long)
    with pytest.raises(InputError, match="1 entry at least"):
        chooser.receive(kept, b"", 0)


def test_reprs_tell_nothing() -> None:
    chooser, sender = both()
    columns, kept = chooser.choose(3, TWO, TWO.residues([[1]]))
    rows = sender.rows(3, TWO, columns, (1, 1))
    assert isinstance(rows, OfferedRows)
    assert (repr(chooser), repr(sender)) == ("<ProductChooser>", "<ProductSender>")
    assert repr(kept) == "<ChosenRows of product batch 3>"
    assert repr(rows) == "<OfferedRows of product batch 3>"

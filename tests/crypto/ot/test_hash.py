"""TMMO, its keys and its tweaks."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.derivation import derive_key
from lotor.crypto.garbling import (
    HashKey,
    HashKeys,
    Place,
    Purpose,
    check_security,
    security_bits,
    tweaks,
)
from lotor.crypto.ot import Labels

PUBLIC = bytes(range(32))
rows = hnp.arrays(np.uint64, st.tuples(st.integers(1, 20), st.just(2)))


def key(epoch: int = 0, batch: int = 0, purpose: Purpose = Purpose.GARBLING) -> HashKey:
    return HashKey(PUBLIC, epoch=epoch, batch=batch, purpose=purpose)


def permuted(block: bytes) -> bytes:
    derived = derive_key(PUBLIC, "hash of labels, epoch 0, batch 0, for garbling")[:16]
    return Cipher(algorithms.AES128(derived), modes.ECB()).encryptor().update(block)  # noqa: S305


def xored(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


@given(rows, st.integers(0, 2**64 - 1))
def test_the_formula_block_by_block(labels: Labels, round_: int) -> None:
    tweak = tweaks(Place(3, 5, round_), len(labels))
    found = key().hashed(labels, tweak)
    for label, i, block in zip(labels, tweak, found, strict=True):
        once = permuted(label.tobytes())
        assert block.tobytes() == xored(permuted(xored(once, i.tobytes())), once)


def test_known_answer() -> None:
    labels = np.array([[1, 2], [3, 4]], np.uint64)
    found = key().hashed(labels, tweaks(Place(1, 2, 3), 2))
    assert [f"{int(word):016x}" for word in found.ravel()] == KNOWN


KNOWN = ["97aa842a08c362f9", "87dd9ebcbcb265c5", "3d3501c3a0d64f7d", "9d40c7235c722f55"]


def test_each_epoch_batch_and_purpose_has_its_own_key() -> None:
    label, tweak = np.zeros((1, 2), np.uint64), np.zeros((1, 2), np.uint64)
    made = {
        key(epoch, batch, purpose).hashed(label, tweak).tobytes()
        for epoch in (0, 1, 11)
        for batch in (0, 1, 11)
        for purpose in Purpose
    }
    made.add(
        HashKey(bytes(32), epoch=0, batch=0, purpose=Purpose.GARBLING)
        .hashed(label, tweak)
        .tobytes()
    )
    assert len(made) == 28


def test_keys_are_kept_and_made_again() -> None:
    keys = HashKeys(PUBLIC)
    first = keys.of(0, 0, Purpose.GARBLING)
    assert keys.of(0, 0, Purpose.GARBLING) is first
    label, tweak = np.ones((1, 2), np.uint64), np.zeros((1, 2), np.uint64)
    for batch in range(1, 20):
        keys.of(0, batch, Purpose.GARBLING)
    again = keys.of(0, 0, Purpose.GARBLING)
    assert again is not first
    assert np.array_equal(again.hashed(label, tweak), first.hashed(label, tweak))


def test_tweaks_are_laid_out_in_128_bits() -> None:
    made = tweaks(Place(epoch=0xABCD, circuit=0x1234, round=2**64 - 2), 3, rounds=2)
    assert made.shape == (6, 2)
    assert [hex(word) for word in made[:, 0].tolist()][::2] == [
        "0xabcd123400000000",
        "0xabcd123400000001",
        "0xabcd123400000002",
    ]
    assert made[:, 1].tolist() == [2**64 - 2, 2**64 - 1] * 3


def test_no_two_places_share_a_tweak() -> None:
    ends = (0, 1, 2**16 - 1)
    made = [tweaks(Place(e, c, r), 3) for e in ends for c in ends for r in (0, 1, 2**64 - 1)]
    assert len(np.unique(np.concatenate(made), axis=0)) == 81


@pytest.mark.parametrize(
    "place",
    [(-1, 0, 0), (2**16, 0, 0), (0, -1, 0), (0, 2**16, 0), (0, 0, -1), (0, 0, 2**64)],
)
def test_places_out_of_range(place: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="no such place"):
        tweaks(Place(*place), 1)


def test_rounds_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="do not fit"):
        tweaks(Place(0, 0, 2**64 - 1), 1, rounds=2)


@pytest.mark.parametrize(
    ("ands", "bits"),
    # a million rounds of 10 and of 100 numbers under one key, and batches of them
    [(1616 * 10**6, 97), (18698 * 10**6, 94), (16 * 1616, 113), (8 * 18698, 111), (0, 128)],
)
def test_security_falls_with_the_uses_of_a_key(ands: int, bits: int) -> None:
    assert round(security_bits(ands)) == bits


def test_less_than_100_bits_are_refused() -> None:
    check_security(2**28)
    with pytest.raises(InputError, match="100 is the least: use smaller batches"):
        check_security(2**28 + 1)


def test_key_of_another_length() -> None:
    with pytest.raises(CryptoError, match="32 bytes, not 16"):
        HashKey(bytes(16), epoch=0, batch=0, purpose=Purpose.GARBLING)


def test_reprs() -> None:
    assert repr(key()) == "<HashKey>"

"""Correlated transfers: label = q xor b·delta."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.ot import CorrelatedReceiver, CorrelatedSender, Delta, column_bytes
from lotor.crypto.ot.transposition import transposed

DELTA = Delta.derive(bytes(32), "run")
PAIRS = hashlib.shake_256(b"pairs").digest(4096)
SEEDS = b"".join(
    PAIRS[32 * n + 16 * bit : 32 * n + 16 * bit + 16] for n, bit in enumerate(DELTA.bits.tolist())
)

bits = hnp.arrays(np.uint8, st.integers(1, 200), elements=st.integers(0, 1))


def both() -> tuple[CorrelatedReceiver, CorrelatedSender]:
    return CorrelatedReceiver(PAIRS), CorrelatedSender(SEEDS, DELTA)


@given(bits, st.integers(0, 2**64 - 1))
def test_labels_differ_by_delta_where_the_choice_is_1(
    choices: NDArray[np.uint8], batch: int
) -> None:
    receiver, sender = both()
    columns, labels = receiver.extend(batch, choices)
    assert len(columns) == column_bytes(len(choices)) == 128 * -(-len(choices) // 8)
    q = sender.extend(batch, columns, len(choices))
    assert labels.shape == q.shape == (len(choices), 2)
    assert np.array_equal(labels ^ q, choices[:, None] * DELTA.words)


def test_choices_of_any_shape() -> None:
    receiver, sender = both()
    choices = np.random.default_rng(1).integers(0, 2, (5, 3, 2)).astype(np.uint8)
    columns, labels = receiver.extend(3, choices)
    q = sender.extend(3, columns, 30).reshape(5, 3, 2, 2)
    assert np.array_equal(labels ^ q, choices[..., None] * DELTA.words)


def test_known_answer() -> None:
    receiver, sender = both()
    columns, labels = receiver.extend(7, np.arange(20, dtype=np.uint8) % 3 % 2)
    q = sender.extend(7, columns, 20)
    assert hashlib.sha256(columns).hexdigest()[:16] == KNOWN[0]
    assert [f"{int(word):016x}" for word in (*labels[19], *q[19])] == KNOWN[1:]


KNOWN = [
    "47548626e7c1ab00",
    "dc0ba01a779cec66",
    "25b1f2fdb3a7dec1",
    "7c056d50b52c8b83",
    "5197a9473ce3956f",
]


@given(hnp.arrays(np.uint8, st.tuples(st.just(128), st.integers(1, 9))))
def test_transposition(columns: NDArray[np.uint8]) -> None:
    before = columns.copy()
    rows = transposed(columns)
    assert np.array_equal(columns, before)
    wanted = np.unpackbits(columns, axis=1, bitorder="little").T
    found = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(found, wanted)


def test_no_row_occurs_twice_in_neighbouring_batches() -> None:
    receiver, _ = both()
    nothing = np.zeros(4096, np.uint8)
    rows = np.concatenate([receiver.extend(batch, nothing)[1] for batch in range(4)])
    assert len(np.unique(rows, axis=0)) == 4 * 4096


def test_a_rebuilt_party_repeats_its_bytes() -> None:
    choices = np.arange(50, dtype=np.uint8) % 2
    receiver, sender = both()
    columns, labels = receiver.extend(4, choices)
    q = sender.extend(4, columns, 50)
    for again in (receiver, CorrelatedReceiver(PAIRS)):
        repeated, same = again.extend(4, choices)
        assert repeated == columns
        assert np.array_equal(same, labels)
    for other in (sender, CorrelatedSender(SEEDS, DELTA)):
        assert np.array_equal(other.extend(4, columns, 50), q)


def test_a_batch_is_never_used_for_other_choices() -> None:
    receiver, sender = both()
    choices = np.zeros(16, np.uint8)
    columns, _ = receiver.extend(4, choices)
    sender.extend(4, columns, 16)
    choices[3] = 1
    with pytest.raises(CryptoError, match="transfer batch 4 was used already"):
        receiver.extend(4, choices)
    with pytest.raises(CryptoError, match="transfer batch 3 comes after 4"):
        receiver.extend(3, choices)
    with pytest.raises(CryptoError, match="transfer batch 4 was used already"):
        sender.extend(4, bytes(len(columns)), 16)
    assert receiver.extend(5, choices)[0] != columns


@pytest.mark.parametrize("size", [0, 255, 257, 128, 384])
def test_columns_of_another_size_are_refused(size: int) -> None:
    _, sender = both()
    with pytest.raises(FormatError, match=f"have {size} bytes, and 256 are needed for 16"):
        sender.extend(1, bytes(size), 16)
    sender.extend(1, bytes(256), 16)  # a refused message used nothing up


def test_bad_arguments() -> None:
    with pytest.raises(CryptoError, match="needs 256 seeds"):
        CorrelatedReceiver(PAIRS[:-1])
    with pytest.raises(CryptoError, match="needs 128 seeds"):
        CorrelatedSender(PAIRS, DELTA)
    for batch in (-1, 2**64):
        with pytest.raises(InputError, match="from 0 to 2\\^64 - 1"):
            CorrelatedReceiver(PAIRS).extend(batch, np.zeros(8, np.uint8))


def test_reprs_tell_nothing() -> None:
    assert [repr(each) for each in both()] == ["<CorrelatedReceiver>", "<CorrelatedSender>"]

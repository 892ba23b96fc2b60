"""AES-256 in counter mode, each word once."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.sharing import PadCipher, Pads
from lotor.crypto.sharing.pads import LONGEST, aligned

KEY = bytes(range(32))
DTYPES = [np.uint8, np.uint16, np.uint32, np.uint64]

places = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1))


def stream(place: tuple[int, int, int], size: int, key: bytes = KEY) -> bytes:
    t, attempt, circuit = place
    pads = Pads(PadCipher(key), size, t=t, attempt=attempt, circuit=circuit)
    return pads.bits((size,), np.dtype(np.uint8)).tobytes()


def blocks(place: tuple[int, int, int], count: int) -> bytes:
    """The same, block by block."""
    t, attempt, circuit = place
    start = t << 64 | attempt << 48 | circuit << 32
    counters = b"".join((start + i).to_bytes(16) for i in range(count))
    return Cipher(algorithms.AES256(KEY), modes.ECB()).encryptor().update(counters)  # noqa: S305


def test_known_answer() -> None:
    """Made with `openssl enc -aes-256-ctr` from 32 zero bytes."""
    expected = "3e6dbc0bd86383f92e0babe19697b1662de03dae663071831859ef8b9da935f6"
    assert stream((0x0102030405060708, 0x090A, 0x0B0C), 32).hex() == expected


@given(places, st.integers(1, 20))
def test_counters_encrypted_one_by_one(place: tuple[int, int, int], count: int) -> None:
    assert stream(place, 16 * count) == blocks(place, count)


@given(places, places)
def test_two_places_share_no_block(a: tuple[int, int, int], b: tuple[int, int, int]) -> None:
    left, right = (
        {s[i : i + 16] for i in range(0, 512, 16)} for s in (blocks(a, 32), stream(b, 512))
    )
    assert len(left) == len(right) == 32
    assert left == right if a == b else left.isdisjoint(right)


@given(st.lists(st.tuples(places, st.integers(0, 50)), min_size=1, max_size=5))
def test_what_a_cipher_drew_before_does_not_matter(
    drawn: list[tuple[tuple[int, int, int], int]],
) -> None:
    """Also where that ended within a block."""
    cipher = PadCipher(KEY)
    for place, size in drawn:
        t, attempt, circuit = place
        pads = Pads(cipher, size, t=t, attempt=attempt, circuit=circuit)
        assert pads.bits((size,), np.dtype(np.uint8)).tobytes() == stream(place, size)


def test_neighbouring_places_share_no_block() -> None:
    """All where each of the three numbers is 0, 1 or its largest."""
    seen: set[bytes] = set()
    ends = (0, 1, 2**16 - 1)
    all_places = [(t, a, c) for t in (0, 1, 2**16, 2**64 - 1) for a in ends for c in ends]
    for place in all_places:
        whole = stream(place, 1600)
        seen.update(whole[i : i + 16] for i in range(0, 1600, 16))
    assert len(seen) == 100 * len(all_places)


def test_the_longest_stream_does_not_reach_the_next_circuit() -> None:
    assert LONGEST // 16 <= 2**32


def test_another_key_is_unrelated() -> None:
    assert stream((1, 2, 3), 64) != stream((1, 2, 3), 64, bytes(32))


items = st.lists(
    st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 4), max_size=3)), max_size=8
)


@given(places, items)
def test_drawn_in_order_each_word_once(
    place: tuple[int, int, int], items: list[tuple[type[np.unsignedinteger], list[int]]]
) -> None:
    sizes = [aligned(int(np.prod(shape)) * np.dtype(dtype).itemsize) for dtype, shape in items]
    whole = stream(place, sum(sizes))
    t, attempt, circuit = place
    pads = Pads(PadCipher(KEY), sum(sizes), t=t, attempt=attempt, circuit=circuit)
    position = 0
    for (dtype, shape), size in zip(items, sizes, strict=True):
        drawn = pads.bits(tuple(shape), np.dtype(dtype))
        assert drawn.shape == tuple(shape)
        assert drawn.dtype == dtype
        assert drawn.tobytes() == whole[position : position + drawn.nbytes]
        position += size
        assert position % 8 == 0
    with pytest.raises(CryptoError, match="used up"):
        pads.bits((1,), np.dtype(np.uint8))


@given(st.integers(0, 64))
def test_nothing_past_the_end(size: int) -> None:
    pads = Pads(PadCipher(KEY), size, t=0, attempt=0, circuit=0)
    assert pads.words((size // 8,)).dtype == np.uint64
    with pytest.raises(CryptoError, match="no word is ever used twice"):
        pads.words((1,))


def test_what_is_drawn_cannot_be_written_to() -> None:
    words = Pads(PadCipher(KEY), 8, t=0, attempt=0, circuit=0).words((1,))
    with pytest.raises(ValueError, match="read-only"):
        words += np.uint64(1)


@pytest.mark.parametrize(
    "place", [(-1, 0, 0), (2**64, 0, 0), (0, 2**16, 0), (0, 0, 2**16), (0, -1, 0)]
)
def test_no_such_place(place: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="no such place"):
        stream(place, 16)


def test_too_long_or_a_wrong_key() -> None:
    with pytest.raises(InputError, match="fewer arms or features"):
        Pads(PadCipher(KEY), LONGEST + 1, t=0, attempt=0, circuit=0)
    with pytest.raises(CryptoError, match="32 bytes"):
        Pads(PadCipher(KEY[:16]), 16, t=0, attempt=0, circuit=0)
    assert KEY.hex() not in repr(Pads(PadCipher(KEY), 16, t=0, attempt=0, circuit=0))

"""A garbler's own labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from crypto.garbling.parties import DELTA
from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.garbling import InputOrder, LabelSource, Place, bits_of, chosen, read_labels

SOURCE = LabelSource(bytes(range(32)))


def test_known_answer() -> None:
    """Made with `openssl enc -aes-256-ctr` from 32 zero bytes."""
    expected = "b53cb99417a048bb15cfd6736804f6af990ff34be63fc19cb626381935d550ca"
    assert SOURCE.zeros(0x0102, 0x0304, 0x05060708090A0B0C, (2, 1)).tobytes().hex() == expected


def test_the_same_place_has_the_same_labels() -> None:
    first = SOURCE.zeros(1, 2, 3, (4, 5))
    SOURCE.zeros(1, 2, 4, (7,))
    assert np.array_equal(SOURCE.zeros(1, 2, 3, (4, 5)), first)
    assert np.array_equal(
        LabelSource(bytes(range(32))).zeros(1, 2, 3, (20,)).ravel(), first.ravel()
    )


def test_no_two_places_share_a_label() -> None:
    ends = (0, 1, 2**16 - 1)
    made = [
        SOURCE.zeros(epoch, circuit, batch, (50,))
        for epoch in ends
        for circuit in ends
        for batch in (0, 1, 2**16, 2**64 - 1)
    ]
    assert len(np.unique(np.concatenate(made), axis=0)) == 50 * len(made)


@given(hnp.arrays(np.uint64, hnp.array_shapes(max_dims=3, max_side=5)), st.integers(1, 64))
def test_bits_of_words(words: NDArray[np.uint64], width: int) -> None:
    bits = bits_of(words, width)
    assert bits.shape == (width, *words.shape)
    for i in range(width):
        assert np.array_equal(bits[i], (words >> np.uint64(i)) & np.uint64(1))


@given(hnp.arrays(np.uint8, hnp.array_shapes(max_dims=3, max_side=5), elements=st.integers(0, 1)))
def test_chosen_labels(bits: NDArray[np.uint8]) -> None:
    zeros = SOURCE.zeros(0, 0, 0, bits.shape)
    labels = chosen(zeros, bits, DELTA)
    assert np.array_equal(labels ^ zeros, bits[..., None] * DELTA.words)
    colours = (labels[..., 0] ^ zeros[..., 0]) & np.uint64(1)
    assert np.array_equal(colours, bits)


def test_labels_as_bytes() -> None:
    labels = SOURCE.zeros(0, 0, 0, (3, 2))
    assert np.array_equal(read_labels(labels.tobytes(), (3, 2)), labels)
    for size in (0, 95, 97, 80):
        with pytest.raises(FormatError, match=f"of {size} bytes arrived, and 96 are needed"):
            read_labels(bytes(size), (3, 2))


def test_labels_are_never_given_for_two_inputs() -> None:
    order = InputOrder()
    order.take(Place(0, 0, 1), b"input")
    order.take(Place(0, 0, 1), b"input")
    with pytest.raises(CryptoError, match="give away the difference of all labels"):
        order.take(Place(0, 0, 1), b"another")
    order.take(Place(0, 1, 1), b"another")
    order.take(Place(0, 0, 2), b"input")
    with pytest.raises(CryptoError, match="comes after"):
        order.take(Place(0, 1, 1), b"another")
    order.take(Place(1, 0, 0), b"input")


@pytest.mark.parametrize("place", [(2**16, 0, 0), (0, 2**16, 0), (0, 0, 2**64), (-1, 0, 0)])
def test_places_out_of_range(place: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="no such labels"):
        SOURCE.zeros(*place, (1,))


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match=r"2\^32 is the most"):
        SOURCE.zeros(0, 0, 0, (2**17, 2**16))
    with pytest.raises(CryptoError, match="32 bytes, not 16"):
        LabelSource(bytes(16))


def test_reprs_tell_nothing() -> None:
    assert repr(SOURCE) == "<LabelSource>"

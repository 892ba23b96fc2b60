"""Fixed point in Z/2^64."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.crypto.sharing import constant, to_floats, to_words

bits = st.integers(0, 40)
exact = st.lists(st.integers(-(2**53), 2**53), max_size=8)


@given(exact, bits)
def test_what_fits_comes_back(numbers: list[int], bits: int) -> None:
    floats = np.array(numbers, np.float64) * 2.0**-bits
    words = to_words(floats, bits)
    assert words.dtype == np.uint64
    assert words.tolist() == [number % 2**64 for number in numbers]
    np.testing.assert_array_equal(to_floats(words, bits), floats)


@given(st.floats(-(2.0**20), 2.0**20), bits)
def test_rounded_to_the_nearest(number: float, bits: int) -> None:
    (word,) = to_words(np.array([number]), bits).view(np.int64).tolist()
    assert abs(Fraction(word) - Fraction(number) * 2**bits) <= Fraction(1, 2)
    assert constant(number, bits) == word % 2**64


@given(st.sampled_from([1.0, -1.0]), st.integers(0, 60))
def test_up_to_the_last_that_fits(sign: float, bits: int) -> None:
    largest = np.nextafter(2.0**63, 0) * 2.0**-bits * sign
    assert to_floats(to_words(np.array([largest]), bits), bits).tolist() == [largest]
    with pytest.raises(InputError, match="too large"):
        to_words(np.array([sign * 2.0 ** (63 - bits)]), bits)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308, -1e308, 2.0**43])
def test_refused(number: float) -> None:
    with pytest.raises(InputError, match="rescale it, or take fewer bits"):
        to_words(np.array([0.5, number]), 20)

"""Signs, and how bits are folded for them."""

import numpy as np
from hypothesis import given, settings

from crypto.sharing.table import EXTREMES, arrays, few_dims, run, seeds, shared, uniform
from lotor.crypto.sharing import Words, negative
from lotor.crypto.sharing.comparison import folded

SIGN = np.uint64(63)


def reversed_digits(place: int) -> int:
    return int(f"{place:06b}"[::-1], 2)


def test_folding_reverses_the_digits_of_places() -> None:
    for place in range(64):
        (moved,) = folded(np.array([1 << place], np.uint64)).tolist()
        assert moved == 1 << reversed_digits(place)


@given(arrays(few_dims))
def test_folded_twice_is_as_before(x: Words) -> None:
    np.testing.assert_array_equal(folded(folded(x)), x)


@settings(max_examples=60)
@given(arrays(few_dims), seeds)
def test_signs(x: Words, seed: int) -> None:
    np.testing.assert_array_equal(run(negative, shared(x, seed)).value, x >> SIGN)


def test_all_extremes_under_many_masks() -> None:
    """Each extreme number and its neighbours, 200 times."""
    around = np.array(EXTREMES, np.uint64)[:, None] + np.array([0, 1, 2**64 - 1], np.uint64)
    x = np.tile(around.ravel(), 200)
    np.testing.assert_array_equal(run(negative, shared(x)).value, x >> SIGN)


def test_many_random_numbers() -> None:
    x = uniform(3, 50_000)
    x >>= uniform(4, 50_000) % np.uint64(64)  # of all lengths
    x[::2] = -x[::2]
    signs = run(negative, shared(x)).value
    assert signs.dtype == np.uint8
    np.testing.assert_array_equal(signs, x >> SIGN)

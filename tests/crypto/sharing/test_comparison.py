"""Signs, by tables and by words of all bits, and coins beside them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import (
    ALL_ONES,
    EXTREMES,
    arrays,
    few_dims,
    numbers,
    run,
    seeds,
    shared,
    shared_bits,
    uniform,
)
from lotor.crypto.sharing import Circuit, Coins, Engine, Shared, SharedBits, Words, negative
from lotor.crypto.sharing.comparison import MANY
from lotor.crypto.sharing.packed import folded, packed_negative

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


@settings(max_examples=60)
@given(arrays(st.tuples(st.integers(1, 40))), seeds)
def test_signs_by_words_of_all_bits(x: Words, seed: int) -> None:
    np.testing.assert_array_equal(run(packed_negative, shared(x, seed)).value, x >> SIGN)


def in_parts(x: Words) -> Words:
    """Few at a time, each time under other masks."""
    parts = np.split(x, range(MANY - 1, len(x), MANY - 1))
    done = [run(negative, shared(part, t), t=t) for t, part in enumerate(parts)]
    assert {each.recipe.rounds for each in done} == {3}
    return np.concatenate([each.value for each in done])


def all_at_once(x: Words) -> Words:
    done = run(negative, shared(x))
    assert done.recipe.rounds == 6
    signs: Words = done.value
    return signs


WAYS = pytest.mark.parametrize("signs_of", [in_parts, all_at_once])


@WAYS
def test_all_extremes_under_many_masks(signs_of: Any) -> None:
    """Each extreme number and its neighbours, 200 times."""
    around = np.array(EXTREMES, np.uint64)[:, None] + np.array([0, 1, ALL_ONES], np.uint64)
    x = np.tile(around.ravel(), 200)
    np.testing.assert_array_equal(signs_of(x), x >> SIGN)


@WAYS
def test_many_random_numbers(signs_of: Any) -> None:
    x = uniform(3, 50_000)
    x >>= uniform(4, 50_000) % np.uint64(64)  # of all lengths
    x[::2] = -x[::2]
    np.testing.assert_array_equal(signs_of(x), x >> SIGN)


def with_coins(x: Words, coins: Words, threshold: int, seed: int = 0) -> list[int]:
    def circuit(engine: Engine, x: Shared, words: SharedBits) -> Circuit[Any]:
        return (yield from negative(engine, x, Coins(words, threshold)))

    done = run(circuit, shared(x, seed), shared_bits(coins, seed))
    found: list[int] = done.value.tolist()
    return found


@settings(max_examples=60)
@given(
    arrays(st.tuples(st.integers(0, 5))),
    arrays(st.tuples(st.integers(0, 5))),
    st.one_of(numbers, st.just(2**64)),
    seeds,
)
def test_coins_below_a_threshold(x: Words, coins: Words, threshold: int, seed: int) -> None:
    signs = (x >> SIGN).tolist()
    below = [int(coin < threshold) for coin in coins.tolist()]
    assert with_coins(x, coins, threshold, seed) == signs + below


@pytest.mark.parametrize("threshold", [0, 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64])
def test_coins_next_to_a_threshold(threshold: int) -> None:
    coins = uniform(1, 250)
    near = [coin for d in (-1, 0, 1) if 0 <= (coin := threshold + d) < 2**64]
    coins[: 20 * len(near)] = near * 20
    found = with_coins(uniform(2, 3), coins, threshold)
    assert found[3:] == [int(coin < threshold) for coin in coins.tolist()]


def test_coins_beside_many_numbers() -> None:
    x, coins = uniform(1, MANY + 5), uniform(2, 6)
    found = with_coins(x, coins, 2**63)
    assert found == (x >> SIGN).tolist() + [int(coin < 2**63) for coin in coins.tolist()]

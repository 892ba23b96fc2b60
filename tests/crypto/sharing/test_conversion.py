"""From one sharing to the other and back."""

import numpy as np
from hypothesis import given, settings

from crypto.sharing.table import (
    EXTREMES,
    arrays,
    ending_settled,
    few_dims,
    run,
    seeds,
    shared,
    shared_bits,
    uniform,
)
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    Shared,
    SharedBits,
    Words,
    bit_to_word,
    bits_to_words,
    words_to_bits,
)

ALL = np.concatenate([np.array(EXTREMES, np.uint64), uniform(5, 2000)])


def one_bit(engine: Engine, bits: SharedBits) -> Circuit[Shared]:
    return ending_settled(engine, bit_to_word(engine, bits))


@given(arrays(few_dims), seeds)
def test_the_lowest_bit_of_a_byte_as_a_number(x: Words, seed: int) -> None:
    bits = x.astype(np.uint8)
    np.testing.assert_array_equal(run(one_bit, shared_bits(bits, seed)).value, bits & 1)


@settings(max_examples=50)
@given(arrays(few_dims), seeds)
def test_words_to_bits(x: Words, seed: int) -> None:
    np.testing.assert_array_equal(run(words_to_bits, shared(x, seed)).value, x)


@settings(max_examples=50)
@given(arrays(few_dims), seeds)
def test_bits_to_words(x: Words, seed: int) -> None:
    np.testing.assert_array_equal(run(bits_to_words, shared_bits(x, seed)).value, x)


def test_many_there_and_back() -> None:
    bits = run(words_to_bits, shared(ALL)).results
    assert bits[0].share.dtype == np.uint64
    back = run(bits_to_words, bits)
    np.testing.assert_array_equal(back.value, ALL)
    assert back.recipe.rounds == 1

"""AND, alone and in a tree."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import broadcastable, run, seeds, shared_bits, traced
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    SharedBits,
    Words,
    all_of,
    both,
    conjunction,
    halved,
    mask_bits,
)
from lotor.crypto.sharing.masked import BitTerm, MaskedBits


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@settings(max_examples=50)
@given(values=broadcastable)
def test_and(dtype: type[np.unsignedinteger], values: tuple[Words, Words]) -> None:
    x, y = (value.astype(dtype) for value in values)
    done = run(both, shared_bits(x, 1), shared_bits(y, 2))
    np.testing.assert_array_equal(done.value, x & y)
    assert done.recipe.rounds == 1


@given(broadcastable)
def test_and_of_what_has_a_coefficient(values: tuple[Words, Words]) -> None:
    """(p ^ (c & a)) & b, for each of the two sides."""
    x, y = values

    def circuit(engine: Engine, x: SharedBits, y: SharedBits) -> Circuit[Any]:
        a, b = (yield from mask_bits(engine, x)), (yield from mask_bits(engine, y))
        # Less of the mask: what it hid is another value then, but both servers know which.
        c = MaskedBits(a.public, BitTerm(~a.public, a.term.secret))
        share = a.term.secret.share & ~a.public
        value = SharedBits(share ^ a.public if engine.first else share, first=engine.first)
        return (
            value,
            conjunction(engine, c, b),
            conjunction(engine, b, c),
            conjunction(engine, c, c),
        )

    value, left, right, same = run(circuit, shared_bits(x, 1), shared_bits(y, 2)).value
    np.testing.assert_array_equal(left, value & y)
    np.testing.assert_array_equal(right, y & value)
    np.testing.assert_array_equal(same, value)


@given(st.integers(1, 33), st.integers(1, 4), seeds)
@settings(max_examples=50)
def test_all_of(n: int, rows: int, seed: int) -> None:
    """Many ones, so that some rows have nothing else."""
    x = (np.random.default_rng(seed).random((rows, n)) > 0.5 / n).astype(np.uint8)
    done = run(all_of, shared_bits(x, seed))
    np.testing.assert_array_equal(done.value, x.all(axis=-1).astype(np.uint8))
    assert done.recipe.rounds == (n - 1).bit_length()


@given(st.integers(1, 20), seeds)
@settings(max_examples=30)
def test_halved(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 256, (2, n), np.uint8)
    half = run(halved, shared_bits(x)).value
    assert half.shape == (2, -(-n // 2))
    expected = np.bitwise_and.reduce(x, axis=-1)
    np.testing.assert_array_equal(np.bitwise_and.reduce(half, axis=-1), expected)
    assert traced(halved, shared_bits(x)).rounds == (n > 1)

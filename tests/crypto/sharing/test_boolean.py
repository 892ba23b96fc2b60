"""AND of shared bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from crypto.sharing.table import broadcastable, run, shared_bits
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    SharedBits,
    Words,
    both,
    conjunction,
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

"""Public numbers added to what is masked, and its sign turned."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crypto.sharing.table import arrays, few_dims, numbers, run, shared
from lotor.crypto.sharing import Circuit, Engine, Shared, Words, mask, settled, truncate


@given(arrays(few_dims), st.one_of(numbers, st.integers(-(2**64), -1)), st.integers(1, 62))
def test_as_the_number_itself(x: Words, number: int, bits: int) -> None:
    def circuit(engine: Engine, x: Shared) -> Circuit[tuple[Shared, ...]]:
        masked = yield from mask(engine, x)
        cut = yield from truncate(engine, x, bits)
        values = masked, -masked + number, cut, -(-cut + 0) + number, -(cut + number)
        return tuple(settled(engine, value) for value in values)

    same, turned, cut, more, less = run(circuit, shared(x)).value
    public = np.uint64(number % 2**64)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(turned, public - x)
    np.testing.assert_array_equal(more, cut + public)
    np.testing.assert_array_equal(less, -(cut + public))

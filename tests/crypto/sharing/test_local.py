"""All three at one table."""

import numpy as np
from hypothesis import given

from crypto.sharing.table import arrays, few_dims
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    Shared,
    Words,
    mask,
    multiply,
    run_locally,
    split,
    together,
)


def product(engine: Engine, x: Shared, y: Shared) -> Circuit[Shared]:
    left, right = yield from together(mask(engine, x), mask(engine, y))
    return multiply(engine, left, right)


@given(arrays(few_dims))
def test_split_and_run(x: Words) -> None:
    ours, theirs = split(x)
    np.testing.assert_array_equal(ours + theirs, x)
    first, second = run_locally(product, (ours, theirs), split(x))
    np.testing.assert_array_equal(first.share + second.share, x * x)
    assert (first.first, second.first) == (True, False)


def test_shares_and_keys_are_new_each_time() -> None:
    x = np.arange(4, dtype=np.uint64)
    assert split(x)[0].tolist() != split(x)[0].tolist()
    shares = split(x)
    results = {run_locally(product, shares, shares)[0].share.tobytes() for _ in range(3)}
    assert len(results) == 3

"""All three at one table."""

import numpy as np
from hypothesis import given

from crypto.sharing.table import arrays, few_dims
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    LocalRun,
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


def test_a_circuit_that_is_traced_once_has_new_pads_in_each_run() -> None:
    x = np.arange(4, dtype=np.uint64)
    (x0, x1) = (Shared(share, first=place == 0) for place, share in enumerate(split(x)))
    run = LocalRun(lambda engine: product(engine, x0, x0), lambda engine: product(engine, x1, x1))
    results = [run() for _ in range(3)]
    for first, second in results:
        np.testing.assert_array_equal(first.share + second.share, x * x)
    assert len({first.share.tobytes() for first, _ in results}) == 3
    assert run.recipe.rounds == 1

"""1 / (1 + d) on its whole range."""

import numpy as np
import pytest

from crypto.sharing.table import ending_settled, run, shared
from lotor.crypto.sharing import reciprocal


@pytest.mark.parametrize("bits", [5, 12, *range(16, 27)])
def test_less_than_one_and_a_half_units_off(bits: int) -> None:
    one = 1 << 2 * bits
    rng = np.random.default_rng(bits)
    even = np.linspace(0, one, 4001).astype(np.uint64)
    ends = np.array([0, 1, 2, one - 2, one - 1, one], np.uint64)
    d = np.concatenate(
        [rng.integers(0, one, 8000, np.uint64, endpoint=True), even, np.tile(ends, 100)]
    )
    got = run(
        lambda engine, d: ending_settled(engine, reciprocal(engine, d, bits, 2 * bits)), shared(d)
    )
    exact = float(one << bits) / (one + d.astype(np.float64))
    errors = got.value.astype(np.float64) - exact
    assert np.abs(errors).max() < 1.5
    assert abs(errors.mean()) < 6 * 0.45 / len(d) ** 0.5
    assert got.recipe.rounds == 5

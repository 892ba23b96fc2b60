"""1 / (1 + d) on its whole range."""

import numpy as np
import pytest
from numpy.typing import NDArray

from crypto.sharing.table import ending_settled, run, shared
from lotor.crypto.sharing import Words, reciprocal


def errors(d: Words, bits: int, behind: int) -> NDArray[np.float64]:
    """In units of the last place; d is below 2^53, so that floats have it."""
    done = run(
        lambda engine, d: ending_settled(engine, reciprocal(engine, d, bits, behind)), shared(d)
    )
    assert done.recipe.rounds == 2
    exact = 2.0 ** (behind + bits) / (2.0**behind + d.view(np.int64))
    off: NDArray[np.float64] = done.value.astype(np.float64) - exact
    return off


def some(behind: int) -> Words:
    one = 1 << behind
    even = np.linspace(0, one, 4001).astype(np.uint64)
    ends = np.array([0, 1, 2, one - 2, one - 1, one], np.uint64)
    anywhere = np.random.default_rng(behind).integers(0, one, 8000, np.uint64, endpoint=True)
    return np.concatenate([anywhere, even, np.tile(ends, 100)])


@pytest.mark.parametrize("behind", [30, 31, 40, 44, 48, 52])
@pytest.mark.parametrize("bits", [5, 16, 20, 24, 28])
def test_less_than_one_unit_off_and_a_little(bits: int, behind: int) -> None:
    found = errors(some(behind), bits, behind)
    assert np.abs(found).max() < 1 + 2.0 ** (bits - 26.5)
    assert abs(found.mean()) < 6 * 0.45 / len(found) ** 0.5 + 2.0 ** (bits - 32)


@pytest.mark.parametrize("behind", [44, 52])
def test_a_little_outside_of_the_range(behind: int) -> None:
    """Rounding may leave d below 0, and a context that is a little too long above 1."""
    widest = 1 << (behind - 6)
    outside = np.random.default_rng(1).integers(0, widest, 2000, np.uint64)
    for d in (-outside, outside + np.uint64(1 << behind)):
        assert np.abs(errors(d, 28, behind)).max() < 1 + 2.0**1.7

"""Functions of small numbers, and one-hot vectors of sums that nobody knows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import Run, run, seeds, shared_tally
from lotor.crypto.sharing import Circuit, Engine, Tally, look_up, one_hot_of_sum


@settings(max_examples=60)
@given(st.integers(0, 9), st.lists(st.integers(0, 3), max_size=2), seeds)
def test_any_function(bits: int, shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    function = rng.integers(0, 256, 1 << bits, np.uint8)
    x = rng.integers(0, 1 << bits, [*shape, 3], np.uint16)

    def circuit(engine: Engine, x: Tally) -> Circuit[Any]:
        return (yield from look_up(engine, x, function))

    done = run(circuit, shared_tally(x, seed))
    np.testing.assert_array_equal(done.value, function[x])
    assert done.recipe.rounds == 1


def turned(i: int, j: int, k: int, t: int = 0) -> Run[Tally]:
    def circuit(engine: Engine) -> Circuit[Tally]:
        return (yield from one_hot_of_sum(engine, i if engine.first else j, k))

    return run(circuit, t=t)


@given(st.integers(1, 300), seeds, seeds)
def test_a_one_at_the_sum(k: int, i: int, j: int) -> None:
    i, j = i % k, j % k
    assert np.flatnonzero(turned(i, j, k).value).tolist() == [(i + j) % k]


@pytest.mark.parametrize("k", [1, 2, 10, 2**15])
def test_all_ends(k: int) -> None:
    for i in {0, k // 2, k - 1}:
        for j in {0, k // 2, k - 1}:
            assert np.flatnonzero(turned(i, j, k).value).tolist() == [(i + j) % k]


def test_what_is_opened_is_uniform_whatever_it_hides() -> None:
    """Bit by bit, within six sigmas."""
    steps = 1000
    for own in (0, 2):
        opened = np.concatenate([turned(own, own, 3, t).opened for t in range(steps)])
        ones = np.unpackbits(opened.view(np.uint8), axis=1).reshape(steps, 16).sum(axis=0)
        assert np.abs(ones - steps / 2).max() < 3 * steps**0.5

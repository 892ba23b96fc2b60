import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.environments.principal import unit_components


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_components_are_those_of_the_singular_values(seed: int, count: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(40, 6)) * np.geomspace(1, 0.1, 6) + 3
    centred = rows - rows.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    expected = (left * sizes)[:, :count]
    expected /= np.sqrt(np.square(expected).sum(axis=1, keepdims=True))
    assert np.abs(unit_components(rows, count)) == pytest.approx(np.abs(expected), abs=1e-6)


def test_signs_do_not_depend_on_the_order_of_rows() -> None:
    rows = np.random.default_rng(2).normal(size=(9000, 8)) * np.arange(1, 9)
    order = np.random.default_rng(3).permutation(9000)
    assert unit_components(rows[order], 4) == pytest.approx(unit_components(rows, 4)[order])


def test_bytes_and_floats_give_the_same() -> None:
    rows = np.random.default_rng(4).integers(0, 256, size=(5000, 10), dtype=np.uint8)
    assert unit_components(rows, 3) == pytest.approx(unit_components(rows / 255, 3))


def test_a_row_in_the_middle_stays_there() -> None:
    assert unit_components(np.array([[1.0, 0], [0, 0], [-1, 0]]), 1)[1].tolist() == [0.0]

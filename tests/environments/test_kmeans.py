import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.environments.kmeans import kernel, kmeans, squared_distances


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_distances_are_those_of_euclid(seed: int, d: int) -> None:
    generator = np.random.default_rng(seed)
    rows, centres = generator.normal(size=(9, d)), generator.normal(size=(4, d))
    expected = np.square(rows[:, np.newaxis] - centres).sum(axis=2)
    assert squared_distances(rows, centres) == pytest.approx(expected, abs=1e-12)
    assert squared_distances(rows, rows).min() >= 0


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_clusters_that_lie_apart_are_found(seed: int, k: int) -> None:
    """They are so narrow that k-means++ starts twice in one of them with a chance of 4e-13.

    That is the sum of squared distances within clusters beside that between them, for eight
    clusters; it goes with the square of the width.
    """
    generator = np.random.default_rng(seed)
    corners = np.eye(8)[:k]
    labels = np.concatenate([np.arange(k), generator.integers(0, k, size=100)])
    rows = corners[labels] + generator.uniform(-1, 1, size=(100 + k, 8)) * 1e-7
    centres = kmeans(rows, k, seed=seed)
    means = np.stack([rows[labels == label].mean(axis=0) for label in range(k)])
    order = centres.argmax(axis=1).argsort()
    assert centres[order] == pytest.approx(means, abs=1e-13)


@pytest.mark.parametrize("k", [3, 10, 60])
def test_iterations_bring_the_centres_nearer(k: int) -> None:
    generator = np.random.default_rng(k)
    rows = generator.normal(size=(1000, 5))
    centres = kmeans(rows, k, seed=4)
    some = rows[generator.permutation(1000)[:k]]
    total, chance = (squared_distances(rows, c).min(axis=1).sum() for c in (centres, some))
    assert total < 0.8 * chance
    # Nearly a fixed point: each centre is about the mean of what is nearest to it.
    nearest = squared_distances(rows, centres).argmin(axis=1)
    means = np.stack([rows[nearest == arm].mean(axis=0) for arm in range(k)])
    assert squared_distances(rows, means).min(axis=1).sum() > 0.999 * total
    assert np.array_equal(kmeans(rows, k, seed=4), centres)
    assert not np.array_equal(kmeans(rows, k, seed=5), centres)


def test_more_clusters_than_different_rows() -> None:
    centres = kmeans(np.array([[0.0], [0.0], [1.0], [1.0]]), 4, seed=1)
    assert set(centres.ravel().tolist()) == {0.0, 1.0}


def test_rows_that_are_all_the_same() -> None:
    assert kmeans(np.ones((3, 2)), 2, seed=1).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("k", [0, 4, 1.5])
def test_a_number_of_clusters_from_1_to_the_rows(k: int) -> None:
    with pytest.raises(InputError, match="from 1 to 3"):
        kmeans(np.ones((3, 2)), k, seed=1)


def test_the_kernel() -> None:
    rows, centres = np.array([[0.0], [3.0]]), np.array([[0.0], [1.0]])
    expected = [[1, np.exp(-0.125)], [np.exp(-1.125), np.exp(-0.5)]]
    assert kernel(rows, centres, 2.0) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("sigma", [0, -1.0, float("nan"), float("inf"), "wide"])
def test_a_kernel_has_a_width(sigma: float) -> None:
    with pytest.raises(InputError, match="sigma"):
        kernel(np.ones((1, 1)), np.ones((1, 1)), sigma)

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments import GraphArms, LinearArms
from lotor.environments.graph import nearest_neighbours


def some_weights(seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 15))
    weights = np.triu(generator.exponential(size=(k, k)), 1)
    return np.asarray(weights + weights.T, dtype=np.float64)


@given(st.integers(0, 2**32))
def test_the_eigenbasis_is_that_of_the_laplacian(seed: int) -> None:
    weights = some_weights(seed)
    k = len(weights)
    values = np.random.default_rng(seed).normal(size=k)
    arms = GraphArms(weights, values)
    assert arms.eigenvalues is not None
    laplacian = np.diag(weights.sum(axis=1)) - weights
    q = arms.vectors
    assert q @ q.T == pytest.approx(np.eye(k), abs=1e-9)
    assert q @ np.diag(arms.eigenvalues) @ q.T == pytest.approx(laplacian, abs=1e-8)
    assert arms.means == pytest.approx(values, abs=1e-9)
    assert arms.eigenvalues.min() >= 0
    assert (arms.k, arms.d) == (k, k)


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_neighbours_are_those_of_brute_force(seed: int, neighbours: int) -> None:
    generator = np.random.default_rng(seed)
    # Whole numbers make equal distances, and equal arms.
    vectors = generator.integers(-2, 3, size=(int(generator.integers(6, 15)), 2)).astype(float)
    nearest = {
        i: sorted(
            (j for j in range(len(vectors)) if j != i),
            key=lambda j: (float(np.square(vectors[i] - vectors[j]).sum()), j),
        )[:neighbours]
        for i in range(len(vectors))
    }
    weights = nearest_neighbours(vectors, neighbours)
    for i, mine in nearest.items():
        for j, others in nearest.items():
            assert weights[i, j] == float(j in mine or i in others)


def test_arms_by_their_neighbours() -> None:
    line = GraphArms.nearest([[0], [1], [2.5], [4.5]], [1, 2, 3, 4], neighbours=1, first=2)
    path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert line.weights.tolist() == path
    assert line.first == 2
    assert isinstance(line, LinearArms)
    assert repr(line) == "<GraphArms: 4 arms in 4 dimensions>"


def test_a_graph_in_pieces_is_refused() -> None:
    with pytest.raises(InputError, match=r"falls into 2 parts.*give more neighbours"):
        GraphArms.nearest([[0], [1], [10], [11]], [1, 2, 3, 4], neighbours=1)
    with pytest.raises(InputError, match="3 parts"):
        GraphArms(np.zeros((3, 3)), [1, 2, 3])


@pytest.mark.parametrize(
    ("weights", "values", "complaint"),
    [
        ([[0, 1], [2, 0]], [1, 2], "not symmetric"),
        ([[0, -1], [-1, 0]], [1, 2], "from 0 up"),
        ([[1, 1], [1, 0]], [1, 2], "an edge to itself"),
        ([[0, 1, 1], [1, 0, 1]], [1, 2], "not square"),
        ([[0, nan], [nan, 0]], [1, 2], "not finite"),
        ([[0]], [1], "nothing to choose"),
        ([[0, 1], [1, 0]], [1], "values has 1 numbers where 2"),
        ([[0, 1], [1, 0]], [1, nan], "values holds"),
    ],
)
def test_unusable_graphs_are_refused(
    weights: list[list[float]], values: list[float], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        GraphArms(weights, values)


@pytest.mark.parametrize("neighbours", [0, 3, 1.5])
def test_an_impossible_number_of_neighbours_is_refused(neighbours: int) -> None:
    with pytest.raises(InputError, match="from 1 to 2"):
        GraphArms.nearest([[0], [1], [2]], [1, 2, 3], neighbours=neighbours)

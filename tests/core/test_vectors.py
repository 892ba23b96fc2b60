import numpy as np
import pytest

from lotor.core.errors import InputError
from lotor.core.vectors import VectorsLike, largest_norm, to_table, to_vector, to_vectors


def test_a_table_is_a_copy_that_cannot_be_changed() -> None:
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    table = to_vectors("vectors", given)
    given[0, 0] = 9.0
    assert table.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 9.0


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        ([], "one vector for each arm"),
        ([[1.0, 2.0]], "1 arm, which leaves nothing to choose"),
        ([[], []], "zero dimensions"),
        ([[1.0], [1.0, 2.0]], "several lengths"),
        ([["one"], ["two"]], "not a number"),
        ([1.0, 2.0], "one vector for each arm"),
        ([[1.0], [float("nan")]], "not finite"),
        ([[1.0], [float("-inf")]], "not finite"),
        ([[1.0], [1e300]], r"beyond 2\^64"),
    ],
)
def test_unusable_arms_are_refused(vectors: VectorsLike, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        to_vectors("vectors", vectors)


@pytest.mark.parametrize("rows", [[], [[]], [1.0], [[[1.0]]]])
def test_a_table_has_rows_and_columns(rows: VectorsLike) -> None:
    with pytest.raises(InputError, match="contexts must be a table: give at least one row"):
        to_table("contexts", rows)


def test_unusable_vectors_are_refused_without_their_values() -> None:
    with pytest.raises(InputError, match="theta has 2 numbers where 3 are needed"):
        to_vector("theta", [1.25, 2.5], 3)
    with pytest.raises(InputError, match="theta must be a list of numbers"):
        to_vector("theta", np.zeros((2, 2)))
    with pytest.raises(InputError) as caught:
        to_vector("theta", [123.456, float("nan")])
    assert "123" not in str(caught.value)


def test_the_largest_norm() -> None:
    assert largest_norm(np.array([[3.0, -4.0], [1.0, 1.0]])) == 5.0

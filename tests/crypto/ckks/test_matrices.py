"""Inverse and adjugate are those of numpy, in clear and encrypted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypto.ckks.noisy import noisy, part_of_bound
from crypto.ckks.small import Small, small
from lotor.core.errors import InputError, LevelsExhaustedError
from lotor.crypto.ckks import (
    ADJUGATE_LEVELS,
    Encrypted,
    NewtonPlan,
    SymmetricMatrix,
    adjugate,
    inverse,
    newton_plan,
    upper_places,
)
from lotor.crypto.ckks.formulas import Array


def drawn(size: int, count: int, low: float, high: float, seed: int) -> Array:
    """Symmetric matrices with eigenvalues between low and high, the ends included."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(count, size, size)))[0]
    values = np.exp(rng.uniform(np.log(low), np.log(high), (count, size)))
    values[:, 0], values[:, -1] = low, high
    return np.asarray(np.einsum("rij,rj,rkj->rik", basis, values, basis))


def symmetric(dense: Array) -> SymmetricMatrix[Array]:
    size = dense.shape[1]
    return SymmetricMatrix(size, {(i, j): dense[:, i, j] for i, j in upper_places(size)})


def dense(matrix: SymmetricMatrix[Array]) -> NDArray[np.float64]:
    rows = [np.stack([matrix[i, j] for j in range(matrix.size)], -1) for i in range(matrix.size)]
    return np.stack(rows, -2)


def encrypted(kit: Small, values: Array, level: int = 0) -> SymmetricMatrix[Encrypted]:
    entries = symmetric(values).entries
    return SymmetricMatrix(
        values.shape[1], {place: kit.encrypt(entry, level) for place, entry in entries.items()}
    )


def check(
    kit: Small,
    found: SymmetricMatrix[Encrypted],
    formula: Callable[[SymmetricMatrix[Any]], SymmetricMatrix[Any]],
    values: Array,
    level: int,
) -> None:
    """The result is that of arrays, up to the noise of this formula."""
    plain = symmetric(values)
    drawn = dict(
        zip(plain.entries, noisy(kit.parameters, *plain.entries.values(), level=level), strict=True)
    )
    expected, bounds = formula(plain), formula(SymmetricMatrix(plain.size, drawn))
    for place, entry in found.entries.items():
        assert part_of_bound(kit.decrypt(entry), expected[place], bounds[place]) < 1


@given(st.integers(2, 5), st.floats(0.01, 0.9), st.integers(0, 2**32 - 1))
def test_the_adjugate_is_the_determinant_times_the_inverse(
    size: int, low: float, seed: int
) -> None:
    v = drawn(size, 3, low, 1.0, seed)
    expected = np.linalg.det(v)[:, None, None] * np.linalg.inv(v)
    assert np.allclose(dense(adjugate(symmetric(v))), expected, atol=1e-12)


@given(st.integers(1, 8), st.floats(1e-4, 1.0), st.floats(1e-6, 0.5), st.integers(0, 2**32 - 1))
def test_the_inverse_is_as_close_as_planned(
    size: int, ratio: float, error: float, seed: int
) -> None:
    plan = newton_plan(ratio, error)
    assert plan.error <= error
    v = drawn(size, 3, ratio * plan.largest, plan.largest, seed)
    if size == 1:
        v[:] = plan.largest
    product = np.einsum("rij,rjk->rik", dense(inverse(symmetric(v), plan)), v)
    distance = np.linalg.norm(product - np.eye(size), ord=2, axis=(1, 2))
    assert np.max(distance) <= plan.error + 1e-7


def test_the_ends_of_the_spectrum_are_where_the_error_is() -> None:
    plan = newton_plan(1 / 3937.5, 1e-3)
    v = drawn(3, 20, plan.largest / 3937.5, plan.largest, 1)
    product = np.einsum("rij,rjk->rik", dense(inverse(symmetric(v), plan)), v)
    distance = np.linalg.norm(product - np.eye(3), ord=2, axis=(1, 2))
    assert np.max(distance) == pytest.approx(plan.error, rel=1e-6)


@pytest.mark.parametrize(("error", "levels"), [(0.01, 8), (1e-3, 8), (2e-4, 9), (1e-5, 9)])
def test_levels_of_the_papers_problem(error: float, levels: int) -> None:
    # lambda = 1, c = lambda·d + L²·T with L = 5.5, T = 130, d = 5.
    assert newton_plan(1 / 3937.5, error).levels == levels


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_encrypted_adjugate(size: int) -> None:
    kit = small(7)
    v = drawn(size, kit.parameters.slots, 0.2, 1.0, size)
    result = adjugate(encrypted(kit, v, 2))
    assert {x.level for x in result.entries.values()} == {2 + ADJUGATE_LEVELS[size]}
    check(kit, result, adjugate, v, 2)


@pytest.mark.parametrize(("size", "ratio"), [(2, 0.01), (3, 0.1), (2, 0.9)])
def test_the_encrypted_inverse(size: int, ratio: float) -> None:
    kit = small(7)
    plan = newton_plan(ratio, 0.05)
    v = drawn(size, kit.parameters.slots, ratio * plan.largest, plan.largest, size)
    result = inverse(encrypted(kit, v, 7 - plan.levels), plan)
    assert {x.level for x in result.entries.values()} == {7}
    check(kit, result, lambda n: inverse(n, plan), v, 7 - plan.levels)


def test_products_of_polynomials_of_one_matrix() -> None:
    v = drawn(3, 4, 0.2, 1.0, 9)
    m = symmetric(v)
    assert np.allclose(dense(m.times(m)), v @ v)
    assert np.allclose(dense(m.times(m.subtracted_from(2.0))), v @ (2 * np.eye(3) - v))


def test_relinearisations_are_one_per_entry() -> None:
    kit = small(7)
    before = kit.server.totals().get("relinearise", 0)
    m = encrypted(kit, drawn(3, kit.parameters.slots, 0.2, 1.0, 2))
    m.times(m)
    assert kit.server.totals()["relinearise"] - before == 6


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="Newton"):
        adjugate(symmetric(drawn(6, 1, 0.5, 1.0, 1)))
    with pytest.raises(InputError, match="i <= j"):
        SymmetricMatrix(2, {(0, 0): np.ones(1)})
    with pytest.raises(InputError, match="newton_plan"):
        inverse(symmetric(drawn(2, 1, 0.5, 1.0, 1)), NewtonPlan(0.5, (), 1.0, 0.1))
    for ratio, error in ((0.0, 0.1), (1.5, 0.1), (0.5, 0.0), (0.5, 1.0)):
        with pytest.raises(InputError):
            newton_plan(ratio, error)


def test_too_few_levels_are_refused_at_once() -> None:
    kit = small(7)
    m = encrypted(kit, drawn(3, kit.parameters.slots, 0.2, 1.0, 2), 7)
    before = dict(kit.server.counts)
    with pytest.raises(LevelsExhaustedError):
        adjugate(m)
    with pytest.raises(LevelsExhaustedError):
        inverse(m, newton_plan(0.01, 0.05))
    assert kit.server.counts == before

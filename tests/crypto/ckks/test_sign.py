"""Sign compositions are as close as they say, the same in clear and encrypted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.ckks.noisy import noisy, part_of_bound
from crypto.ckks.small import small
from lotor.core.errors import CryptoError, InputError, LevelsExhaustedError
from lotor.crypto.ckks import sign_polynomial
from lotor.crypto.ckks.formulas import Array
from lotor.crypto.ckks.minimax import exchange, odd_minimax

DEGREES = [(7, 7, 7, 7), (7, 7, 7), (3, 7), (3, 3), (7,), (3,)]


def points(gap: float) -> Array:
    return np.concatenate([np.geomspace(gap, 1, 20_000), np.linspace(gap, 1, 20_000)])


@settings(max_examples=40)
@given(st.sampled_from([1, 3, 5, 7, 9]), st.floats(2.0**-10, 0.9))
def test_the_best_odd_polynomial_alternates_as_often_as_it_can(degree: int, low: float) -> None:
    """Chebyshev's criterion: nothing of this degree is closer."""
    best = odd_minimax(degree, low)
    errors = best(points(low)) - 1
    assert np.max(np.abs(errors)) <= best.error * (1 + 1e-6) + 1e-12
    extreme = np.abs(errors) > best.error * (1 - 1e-3)
    order = np.argsort(points(low))
    signs = np.sign(errors[order][extreme[order]])
    assert 1 + np.count_nonzero(np.diff(signs)) >= (degree + 1) // 2 + 1


def test_the_best_line_is_known() -> None:
    # c·x is furthest from 1 at both ends, equally: c = 2 / (1 + low).
    best = odd_minimax(1, 0.25)
    assert best.coefficients == pytest.approx((1.6,))
    assert best.error == pytest.approx(0.6)


@pytest.mark.parametrize(("degree", "low"), [(2, 0.1), (0, 0.1), (7, 0.0), (7, 1.0), (-1, 0.5)])
def test_impossible_polynomials_are_refused(degree: int, low: float) -> None:
    with pytest.raises(InputError):
        odd_minimax(degree, low)


def test_what_can_be_met_exactly_is() -> None:
    grid = np.linspace(0, 1, 50)
    assert exchange(grid, np.column_stack([grid, grid**2]), 3 * grid) == pytest.approx([3, 0])


def test_a_range_too_narrow_for_the_degree_is_an_error() -> None:
    with pytest.raises(CryptoError, match="best polynomial"):
        odd_minimax(9, 1 - 1e-15)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("bits", [4, 6, 9])
def test_the_error_is_the_largest_there_is(degrees: tuple[int, ...], bits: int) -> None:
    comparison = sign_polynomial(degrees, 2.0**-bits)
    for gap in (2.0**-bits, 2.0 ** (1 - bits), 0.9):
        found = np.max(np.abs(comparison.plain(points(gap)) / comparison.height - 1))
        bound = comparison.error(gap)
        assert bound * (1 - 1e-3) - 1e-9 <= found <= bound + 1e-9


def test_the_composition_that_the_protocol_uses() -> None:
    # Lotor's own measurements: 3e-2 at 2^-9, 3e-4 at 2^-7.5.
    assert 0.03 < sign_polynomial((7, 7, 7, 7), 2.0**-9).error(2.0**-9) < 0.031
    assert sign_polynomial((7, 7, 7, 7), 2.0**-7.5).error(2.0**-7.5) < 3.5e-4
    assert sign_polynomial().levels == 12


@pytest.mark.parametrize("degrees", DEGREES)
def test_it_is_odd_and_the_product_of_its_stages(degrees: tuple[int, ...]) -> None:
    comparison = sign_polynomial(degrees, 0.05, height=0.5)
    x = np.linspace(-1, 1, 2001)
    assert np.allclose(comparison.plain(-x), -comparison.plain(x), atol=1e-12)
    composed = x
    for polynomial in comparison.polynomials:
        composed = polynomial(composed)
    assert np.allclose(comparison.plain(x), 0.5 * composed, atol=1e-9)
    near = np.array([1e-7])
    assert comparison.plain(near)[0] / near[0] == pytest.approx(comparison.slope, rel=1e-3)


def test_resolution_and_error_belong_together() -> None:
    comparison = sign_polynomial((7, 7, 7), 2.0**-6)
    gap = comparison.resolution(0.2)
    assert comparison.error(gap) <= 0.2 < comparison.error(gap * 0.998)
    with pytest.raises(InputError, match="more stages"):
        sign_polynomial((3,), 0.1).resolution(0.01)


@pytest.mark.parametrize(
    ("degrees", "gap", "height"),
    [((), 0.1, 0.5), ((5,), 0.1, 0.5), ((7,), 0.0, 0.5), ((7,), 1.0, 0.5), ((7,), 0.1, 0.0)],
)
def test_impossible_compositions_are_refused(
    degrees: tuple[int, ...], gap: float, height: float
) -> None:
    with pytest.raises(InputError):
        sign_polynomial(degrees, gap, height)


def test_stages_with_nothing_left_to_do_are_refused() -> None:
    with pytest.raises(InputError, match="take fewer stages"):
        sign_polynomial((7, 7, 7, 7), 0.25)


@pytest.mark.parametrize("gap", [0.0, -0.1, 1.1])
def test_impossible_gaps_are_refused(gap: float) -> None:
    with pytest.raises(InputError):
        sign_polynomial().error(gap)


@pytest.mark.parametrize("degrees", [(7, 7, 7, 7), (3, 7), (3,)])
def test_encrypted_it_is_the_same(degrees: tuple[int, ...]) -> None:
    kit = small(12)
    comparison = sign_polynomial(degrees, 2.0**-5)
    x = kit.draw(4)[0]
    start = 12 - comparison.levels
    result = comparison.evaluate(kit.encrypt(x * comparison.factor, start))
    assert result.level == 12
    (u,) = noisy(kit.parameters, x * comparison.factor, level=start)
    assert part_of_bound(kit.decrypt(result), comparison.plain(x), comparison.evaluate(u)) < 1


def test_too_few_levels_are_refused_at_once() -> None:
    kit = small(12)
    before = dict(kit.server.counts)
    with pytest.raises(LevelsExhaustedError, match="needs 12 levels"):
        sign_polynomial().evaluate(kit.encrypt(0.5, 1))
    assert kit.server.counts == before

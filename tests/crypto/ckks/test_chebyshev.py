"""Series are as close as they say, take the fewest levels, and are the same encrypted."""

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.ckks.noisy import noisy, part_of_bound
from crypto.ckks.small import small
from lotor.core.errors import InputError, LevelsExhaustedError
from lotor.crypto.ckks import ChebyshevSeries, fit, square_root

KIT = small(6)
U = KIT.draw(5)[0]


@pytest.mark.parametrize("degree", [1, 3, 7, 15, 27, 31, 59, 63])
def test_square_roots_are_as_close_as_any_polynomial(degree: int) -> None:
    root = square_root(30.35, degree)
    x = np.concatenate([np.geomspace(1e-6, 30.35, 30_000), np.linspace(0, 30.35, 30_000)])
    found = np.max(np.abs(root.plain(x) - np.sqrt(x)))
    assert found == pytest.approx(root.error, rel=1e-3)
    # Bernstein: |u| of degree 2n is at best 0.2802 / 2n away, and sqrt(x) is |u| with x = u².
    assert root.error / np.sqrt(30.35) < 0.2802 / (2 * degree)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7, 8, 15, 16, 27, 31, 32, 59, 63])
def test_encrypted_series_in_the_fewest_levels(degree: int) -> None:
    root = square_root(2.0, degree)
    assert root.levels == ceil(log2(degree + 1))
    for level in {0, 6 - root.levels}:
        result = root.evaluate(KIT.encrypt(U, level))
        assert result.level == level + root.levels
        assert result.ciphertext.scale == KIT.parameters.scales[result.level]
        (u,) = noisy(KIT.parameters, U, level=level)
        assert part_of_bound(KIT.decrypt(result), root.plain(U + 1), root.evaluate(u)) < 1


@settings(max_examples=25)
@given(st.lists(st.sampled_from([0.0, 1.0, -0.5, 1e-15]), min_size=1, max_size=40))
def test_any_coefficients(head: list[float]) -> None:
    """Zeros in any place, as odd and even functions have them."""
    series = ChebyshevSeries(-1.0, 1.0, (*head, 0.75), 0.0)
    result = series.evaluate(KIT.encrypt(U))
    assert result.level == series.levels
    (u,) = noisy(KIT.parameters, U)
    assert part_of_bound(KIT.decrypt(result), series.plain(U), series.evaluate(u)) < 1


def test_other_functions_and_ranges() -> None:
    wave = fit(np.sin, -3.0, 5.0, 15)
    assert wave.error < 1e-5
    x = np.linspace(-3, 5, 999)
    assert np.max(np.abs(wave.plain(x) - np.sin(x))) <= wave.error * 1.001
    inside = 1 + 4 * U
    result = wave.evaluate(KIT.encrypt(wave.normalised(inside)))
    (u,) = noisy(KIT.parameters, U)
    assert part_of_bound(KIT.decrypt(result), wave.plain(inside), wave.evaluate(u)) < 1


def test_what_cannot_be_fitted_is_refused() -> None:
    for low, high, degree in ((1.0, 1.0, 3), (2.0, 1.0, 3), (0.0, 1.0, 0)):
        with pytest.raises(InputError):
            fit(np.sqrt, low, high, degree)
    with pytest.raises(InputError, match="positive"):
        square_root(0.0, 7)


def test_too_few_levels_are_refused_at_once() -> None:
    before = dict(KIT.server.counts)
    with pytest.raises(LevelsExhaustedError, match="needs 5 levels"):
        square_root(2.0, 31).evaluate(KIT.encrypt(U, 2))
    assert KIT.server.counts == before

from fractions import Fraction
from itertools import pairwise
from math import log

import dp_accounting  # type: ignore[import-untyped]
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from lotor.privacy.mechanism import (
    EXCESS,
    largest_loss,
    mean_loss,
    paper_loss,
    renyi_divergences,
)

ARMS = st.integers(2, 10_000)
# Floats next to 0 and next to 1 are as likely as any.
EPSILONS = st.floats(0.0, 1.0, exclude_min=True) | st.floats(2.0**-53, 0.5).map(lambda x: 1.0 - x)
SMALLER_THAN_ONE = EPSILONS.filter(lambda epsilon: epsilon < 1.0)


def response(arms: int, epsilon: float, greedy: int) -> list[Fraction]:
    """The exact probability of each arm."""
    exploring = Fraction(epsilon) / arms
    return [exploring + (1 - Fraction(epsilon)) * (arm == greedy) for arm in range(arms)]


@given(arms=st.integers(2, 30), epsilon=EPSILONS)
def test_largest_loss_is_the_largest_ratio(arms: int, epsilon: float) -> None:
    one, other = response(arms, epsilon, 0), response(arms, epsilon, 1)
    ratio = max(a / b for a, b in zip(one, other, strict=True))
    exact = log(ratio.numerator) - log(ratio.denominator)
    # The logarithm of a ratio near 1 loses digits here, not there.
    assert largest_loss(arms, epsilon) == pytest.approx(exact, rel=1e-12, abs=1e-11)


@given(arms=st.integers(2, 30), epsilon=SMALLER_THAN_ONE)
def test_small_losses_keep_their_digits(arms: int, epsilon: float) -> None:
    excess = max(response(arms, epsilon, 0)) / (Fraction(epsilon) / arms) - 1
    if excess < 1e300:
        assert np.expm1(largest_loss(arms, epsilon)) == pytest.approx(float(excess), rel=1e-11)


@given(arms=ARMS, epsilon=EPSILONS)
def test_the_paper_bounds_one_step(arms: int, epsilon: float) -> None:
    assert 0.0 <= largest_loss(arms, epsilon) <= paper_loss(arms, epsilon) * (1 + 1e-15)


@given(arms=ARMS, epsilon=SMALLER_THAN_ONE)
def test_divergences_grow_from_the_mean_to_the_largest_loss(arms: int, epsilon: float) -> None:
    divergences = renyi_divergences(arms, epsilon)
    assert np.isfinite(divergences).all()
    assert all(b >= a * (1 - 1e-12) for a, b in pairwise(divergences.tolist()))
    # At the first order, 1 + 10^-6, the divergence is the mean but for some 10^-6 of the loss.
    mean, largest = mean_loss(arms, epsilon), largest_loss(arms, epsilon)
    assert mean * (1 - 1e-9) <= divergences[0] <= mean + 1e-6 * largest * (1 + largest)
    assert divergences[-1] <= largest * (1 + 1e-9)


@given(arms=st.integers(2, 12), epsilon=st.floats(1e-3, 1.0, exclude_max=True))
def test_divergences_are_those_of_the_definition(arms: int, epsilon: float) -> None:
    one, other = response(arms, epsilon, 0), response(arms, epsilon, 1)
    divergences = renyi_divergences(arms, epsilon)
    for h in (1, 2, 7):
        near = int(np.argmin(np.abs(EXCESS - h)))
        powers = sum(a ** (h + 1) / b**h for a, b in zip(one, other, strict=True)) - 1
        exact = float(np.log1p(float(powers))) / h
        at_h = np.interp(h, EXCESS[near - 1 : near + 2], divergences[near - 1 : near + 2])
        assert at_h == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("arms", [2, 3, 10, 1000])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 0.5, 0.9, 0.99])
def test_divergences_are_those_of_dp_accounting(arms: int, epsilon: float) -> None:
    some = slice(1000, 2500, 50)
    orders = (1.0 + EXCESS[some]).tolist()
    theirs = RdpAccountant(orders, dp_accounting.NeighboringRelation.REPLACE_ONE).compose(
        dp_accounting.RandomizedResponseDpEvent(epsilon, arms)
    )
    np.testing.assert_allclose(renyi_divergences(arms, epsilon)[some], theirs._rdp, rtol=1e-9)

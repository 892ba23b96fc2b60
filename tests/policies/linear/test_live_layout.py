"""Scores with live rewards, against a reference in exact fractions."""

from fractions import Fraction
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import MAXIMAL_BUDGET, Floats, RewardScale
from lotor.core.vectors import largest_norm
from lotor.policies.linear import LiveLayout

LARGEST_SLOT = 2**128 - 3
TWO = np.array([[1.0, 0.0], [0.0, 1.0]])

seeds = st.integers(0, 2**32)
budgets = st.sampled_from([2, 9, 1_000, 100_000])
magnitudes = st.integers(-30, 30)


def some_vectors(seed: int, longest: float) -> Floats:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(int(generator.integers(2, 9)), int(generator.integers(1, 9))))
    scaled: Floats = rows * (longest / largest_norm(rows))
    return scaled


def made(seed: int, low: int, width: int, budget: int) -> tuple[LiveLayout, float]:
    vectors = some_vectors(seed, 2.0**low)
    penalty = 4.0**low
    low_end = -(2.0**width) / 3
    scale = RewardScale(low_end, low_end + 2.0**width)
    return LiveLayout(vectors, penalty, scale, budget), penalty


@given(seeds, magnitudes, magnitudes, budgets, st.sampled_from([-1, 1]))
def test_the_longest_rows_and_sums_fill_no_slot_too_far(
    seed: int, low: int, width: int, budget: int, sign: int
) -> None:
    """One arm paid an end of the range in every pull, and u is as long as it can be."""
    layout, penalty = made(seed, low, width, budget)
    longest = int(np.square(layout.vectors).sum(axis=1).argmax())
    excess = layout.excess(layout.scale.high if sign > 0 else layout.scale.low)
    sums = [budget * excess * x for x in layout.arms()[longest]]
    u = layout.u(layout.vectors / penalty)
    far = np.linspace(0.0, -1e300, layout.k)
    for c in (np.zeros(layout.k), far, -far[::-1]):
        scores = layout.scores(u, sums, layout.addends(c))
        assert 0 <= min(scores) <= max(scores) <= LARGEST_SLOT


@given(seeds, magnitudes, magnitudes, budgets, st.integers(-4, 4))
def test_scores_are_those_of_exact_arithmetic(
    seed: int, low: int, width: int, budget: int, c_bits: int
) -> None:
    layout, penalty = made(seed, low, width, budget)
    generator = np.random.default_rng(seed)
    u = layout.vectors / penalty * generator.uniform(0, 1, size=(layout.k, 1))
    c = generator.normal(size=layout.k) * 2.0 ** (width + c_bits)
    sums = layout.sums()
    pulls = [
        (int(generator.integers(layout.k)), generator.uniform(layout.scale.low, layout.scale.high))
        for _ in range(5)
    ]
    for arm, reward in pulls:
        sums.add(arm, layout.excess(reward))
    scores = layout.scores(layout.u(u), sums.learnt, layout.addends(c))
    # In units of the range of rewards: what floats say of b less its known part.
    b = sum((reward - layout.middle) * layout.vectors[arm] for arm, reward in pulls)
    wanted = (u @ b + c - c.max()) / layout.width
    unit = Fraction(layout.unit) / Fraction(layout.width)
    top = 3 * layout.half + 1
    found = np.array([float((score - top) * unit) for score in scores])
    room = 1e-7 * (1 + np.abs(wanted).max())
    assert np.abs(found - wanted).max() < room


@given(st.lists(st.floats(-3.0, 5.0), min_size=1, max_size=30))
def test_the_total_is_that_of_fixed_point_rewards(rewards: list[float]) -> None:
    layout = LiveLayout(TWO, 1.0, RewardScale(-3.0, 5.0), 30)
    sums = layout.sums()
    for reward in rewards:
        sums.add(0, layout.excess(reward))
    fixed = sum(layout.scale.to_fixed(reward) for reward in rewards)
    assert layout.reward(sums.total, len(rewards)) == layout.scale.total(fixed, len(rewards))
    assert abs(sums.total) <= layout.largest_total(len(rewards))


def test_more_pulls_leave_fewer_bits_for_u() -> None:
    assert LiveLayout(TWO, 1.0, RewardScale(), 1_000).u_bits == 48
    assert LiveLayout(TWO, 1.0, RewardScale(), 10**6).u_bits == 44


@pytest.mark.parametrize(
    ("vectors", "penalty", "scale", "budget", "complaint"),
    [
        (TWO, 1e-9, RewardScale(), 1_000, "gamma is too small for arms of length 1 and 1000"),
        (TWO, 1.0, RewardScale(), MAXIMAL_BUDGET, "state a larger gamma, or order fewer pulls"),
        (0 * TWO, 1.0, RewardScale(), 9, "a slot could overflow with arms of length 0"),
        (TWO, 1e-60, RewardScale(), 9, "a slot could overflow"),
        (TWO, 1e60, RewardScale(), 9, "a slot could overflow"),
        (TWO, 1.0, RewardScale(0, 1e-30), 9, "a slot could overflow"),
        (TWO, 1.0, RewardScale(1e30, 2e30), 9, "no reward beyond 2\\^64"),
        (TWO[:1], 1.0, RewardScale(), 9, "at least two arms"),
    ],
)
def test_what_does_not_fit_is_refused(
    vectors: Floats, penalty: float, scale: RewardScale, budget: int, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        LiveLayout(vectors, penalty, scale, budget)


def test_rows_and_bonuses_that_do_not_fit_are_refused() -> None:
    layout = LiveLayout(TWO, 1.0, RewardScale(), 9)
    for rows in (2.1 * TWO, nan * TWO):
        with pytest.raises(PolicyError, match="longer than gamma = 1 allows"):
            layout.u(rows)
    with pytest.raises(PolicyError, match="shape"):
        layout.u(TWO[:1])
    for c in ([0.0, nan], [0.0]):
        with pytest.raises(PolicyError, match="finite numbers"):
            layout.addends(np.array(c))

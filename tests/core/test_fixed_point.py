from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import (
    MAXIMAL_BUDGET,
    REWARD_ONE,
    SCORE_BITS,
    SCORE_LIMIT,
    RewardScale,
    to_scores,
    whole_scores,
)

scores = st.floats(0.0, SCORE_LIMIT, exclude_max=True)
bounds = st.floats(-1e9, 1e9)


@given(st.lists(scores, min_size=1, max_size=8))
def test_scores_are_the_nearest_multiples_and_keep_their_order(values: list[float]) -> None:
    fixed = to_scores(np.array(values)).tolist()
    assert all(0 <= score < 1 << SCORE_BITS for score in fixed)
    for value, score in zip(values, fixed, strict=True):
        assert abs(Fraction(score, 1 << 40) - Fraction(value)) <= Fraction(1, 1 << 41)
    by_value = [score for _, score in sorted(zip(values, fixed, strict=True))]
    assert by_value == sorted(fixed)


@given(st.lists(scores, max_size=5), st.data())
def test_one_bad_score_anywhere_is_refused(values: list[float], data: st.DataObject) -> None:
    bad = data.draw(
        st.sampled_from([float("nan"), float("inf"), -float("inf"), -1e-300, SCORE_LIMIT])
        | st.floats(max_value=0.0, exclude_max=True)
        | st.floats(min_value=SCORE_LIMIT)
    )
    values.insert(data.draw(st.integers(0, len(values))), bad)
    with pytest.raises(PolicyError, match="outside"):
        to_scores(np.array(values))
    with pytest.raises(PolicyError, match="outside"):
        whole_scores(np.array(values))


@given(st.lists(scores | st.sampled_from([-0.0, 0.5 * 2.0**-40, 1.5 * 2.0**-40]), min_size=1))
def test_scores_of_one_arm_and_of_many_are_rounded_alike(values: list[float]) -> None:
    whole = whole_scores(np.array(values))
    assert whole == to_scores(np.array(values)).tolist()
    assert whole == [score for value in values for score in whole_scores(np.array([value]))]
    assert {type(score) for score in whole} == {int}


@pytest.mark.parametrize("odd", [[0.5], None, np.array([1j]), np.array(["a"]), np.array([None])])
def test_what_is_no_vector_of_numbers_is_refused(odd: object) -> None:
    with pytest.raises(PolicyError):
        whole_scores(odd)  # type: ignore[arg-type]


def test_the_ends_of_the_range_of_scores() -> None:
    largest = float(np.nextafter(SCORE_LIMIT, 0.0))
    low, high = to_scores(np.array([-0.0, largest])).tolist()
    assert (low, high) == (0, (1 << SCORE_BITS) - (1 << 10))


@given(bounds, bounds, st.floats(0.0, 1.0))
def test_a_reward_is_mapped_to_its_share_of_the_range(low: float, high: float, x: float) -> None:
    if high - low < 1e-6:
        return
    scale = RewardScale(low, high)
    reward = min(max(low + x * (high - low), low), high)
    fixed = scale.to_fixed(reward)
    assert 0 <= fixed <= REWARD_ONE
    back = scale.total(fixed, pulls=1)
    # Half a unit of 2^-32 of the range, and the roundings of a few operations on doubles.
    assert abs(back - reward) <= (high - low) * 2.0**-33 + 1e-15 * 8 * (abs(low) + abs(high))


@given(st.lists(st.sampled_from([-10.0, -2.5, 0.0, 5.0, 10.0]), min_size=1, max_size=30))
def test_totals_of_exact_rewards_are_exact(rewards: list[float]) -> None:
    scale = RewardScale(-10.0, 10.0)
    fixed = sum(map(scale.to_fixed, rewards))
    assert scale.total(fixed, len(rewards)) == sum(rewards)


def test_the_ends_of_the_range_of_rewards() -> None:
    scale = RewardScale(-3.0, 7.0)
    assert (scale.to_fixed(-3.0), scale.to_fixed(7.0)) == (0, REWARD_ONE)
    assert MAXIMAL_BUDGET * REWARD_ONE < 1 << 63


@pytest.mark.parametrize("reward", [-0.001, 1.001, float("nan"), float("inf")])
def test_rewards_outside_the_range_are_refused(reward: float) -> None:
    with pytest.raises(InputError, match="reward_range"):
        RewardScale().to_fixed(reward)


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("nan")), (0.0, float("inf"))],
)
def test_empty_and_infinite_ranges_are_refused(low: float, high: float) -> None:
    with pytest.raises(InputError, match="reward_range"):
        RewardScale(low, high)

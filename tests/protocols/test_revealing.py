"""By what the arm is chosen that a customer is told: exactly the largest mean, or most outcomes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, REWARD_ONE, SCORE_BITS
from lotor.core.revealed import Revealed
from lotor.protocols.revealing import (
    BEST,
    MEAN_BITS,
    MOST_PULLED,
    check_reveal,
    chosen_arm,
    final_scores,
    told_arm,
    told_counts,
)
from lotor.runtime.durable.run_output import RunOutput

one_arm = st.integers(0, MAXIMAL_BUDGET).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n * REWARD_ONE))
)
alike = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def earned(arms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(s, n) for n, s in arms]


@given(st.lists(one_arm | alike, min_size=1, max_size=5))
def test_means_keep_their_order(arms: list[tuple[int, int]]) -> None:
    """Those that are apart by 2^-62 of the range or more; arms without outcomes are last."""
    scores = final_scores(BEST, earned(arms))
    assert all(0 <= score < 1 << SCORE_BITS for score in scores)
    means = [Fraction(s, n * REWARD_ONE) if n else Fraction(-1) for n, s in arms]
    resolution = Fraction(1, 1 << MEAN_BITS)
    for mean, score in zip(means, scores, strict=True):
        for other, beside in zip(means, scores, strict=True):
            assert score >= beside or mean < other
            assert score > beside or mean < other + resolution
    assert all((score == 0) == (n == 0) for score, (n, _) in zip(scores, arms, strict=True))


@given(st.lists(one_arm, min_size=1, max_size=5))
def test_the_most_pulled_arm_has_the_most_outcomes(arms: list[tuple[int, int]]) -> None:
    assert final_scores(MOST_PULLED, earned(arms)) == [n for n, _ in arms]


def test_the_extremes_fit_a_score() -> None:
    most = MAXIMAL_BUDGET
    assert final_scores(BEST, [(most * REWARD_ONE, most)]) == [(1 << 62) + 1]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_of_equal_scores_the_largest_draw_wins_and_then_the_first(
    pairs: list[tuple[int, int]],
) -> None:
    scores, ties = zip(*pairs, strict=True)
    assert chosen_arm(scores, ties) == pairs.index(max(pairs))


def test_what_no_run_can_tell_is_refused() -> None:
    with pytest.raises(InputError, match="reveal is 'all': choose nothing, best, most-pulled"):
        check_reveal("all")


@pytest.mark.parametrize(
    "told", [None, told_arm(BEST, 1, ["a", "b"]), told_counts([3, 4]), told_arm(MOST_PULLED, 0)]
)
@pytest.mark.parametrize("output", [None, 2.5, {"output": 1}, [1, 2]])
def test_a_journal_gives_back_what_was_told(told: Revealed | None, output: object) -> None:
    came = RunOutput(output, 3, told)
    assert RunOutput.from_json(came.to_json()) == came


def test_in_words() -> None:
    assert told_arm(BEST, 1, ["lyon", "porto"]).text == "best arm: porto"
    assert told_arm(MOST_PULLED, 1).text == "most pulled arm: arm 1"
    assert told_counts([3, 4], ["lyon", "porto"]).text == "outcomes of each arm: lyon 3, porto 4"

"""What a run may tell whoever orders it, beyond the total: in plain and secure alike."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, SCORE_BITS
from lotor.core.revealed import Revealed

Reveal: TypeAlias = Literal["nothing", "best", "most-pulled", "counts"]

NOTHING: Final = "nothing"
BEST: Final = "best"
MOST_PULLED: Final = "most-pulled"
COUNTS: Final = "counts"

TITLES: Mapping[str, str] = {
    BEST: "best arm",
    MOST_PULLED: "most pulled arm",
    COUNTS: "outcomes of each arm",
}
SENTENCES: Mapping[str, str] = {
    BEST: "which arm has the best mean in the end",
    MOST_PULLED: "which arm was pulled most often",
    COUNTS: "how many outcomes of each arm were counted",
}
"""What is told beyond the total, as an owner reads it before it agrees."""

MEAN_BITS = SCORE_BITS - 1
"""Means are compared as whole numbers of 2^-62 of the range of rewards."""


def check_reveal(reveal: str) -> None:
    """Refuse what no run can tell."""
    if reveal != NOTHING and reveal not in SENTENCES:
        raise InputError(f"reveal is {reveal!r}: choose {', '.join((NOTHING, *SENTENCES))}")


def takes_argmax(reveal: str) -> bool:
    """Whether one arm is told, which is found as in a round, by its score."""
    return reveal in (BEST, MOST_PULLED)


def final_scores(reveal: str, earned: Sequence[tuple[int, int]]) -> list[int]:
    """By what the arm to be told is chosen: its mean, or how many of its outcomes were counted.

    `earned` are the rewards and the number of outcomes of each arm, in this run. The scores are
    whole numbers below 2^63. An arm without any outcome is behind those that paid nothing.

    >>> earned = [(REWARD_ONE, 2), (0, 1), (0, 0)]
    >>> [score / 2**61 for score in final_scores(BEST, earned)], final_scores(MOST_PULLED, earned)
    ([1.0, 0.0, 0.0], [2, 1, 0])
    """
    if reveal == MOST_PULLED:
        return [n for _, n in earned]
    return [_mean(s, n) for s, n in earned]


def _mean(s: int, n: int) -> int:
    """At most 2^62 + 1, since no sum is larger than n times the highest reward."""
    return (s << MEAN_BITS) // (n * REWARD_ONE) + 1 if n else 0


def chosen_arm(scores: Sequence[int], ties: Sequence[int]) -> int:
    """The arm of the largest score; of equal ones that of the largest draw wins."""
    return max(range(len(scores)), key=lambda arm: (scores[arm], ties[arm]))


def told_arm(reveal: str, arm: int, names: Sequence[str] | None = None) -> Revealed:
    return Revealed(reveal, TITLES[reveal], arm=arm).called(names)


def told_counts(counts: Sequence[int], names: Sequence[str] | None = None) -> Revealed:
    return Revealed(COUNTS, TITLES[COUNTS], counts=list(counts)).called(names)

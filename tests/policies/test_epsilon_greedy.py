from collections.abc import Callable
from math import log, log2, sqrt

import numpy as np
import pytest
from scipy import stats

from lotor.core.errors import InputError
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, ArmSnapshot, ArmStates, Draws, EpsilonGreedy

ARMS = ArmStates.restore(
    ArmSnapshot(k=3, n=[10, 10, 10], s=[REWARD_ONE * x for x in (2, 7, 5)], own={})
)
ROUNDS = range(4, 6004)


def draws() -> Draws:
    return Draws(Prf(derive_key(b"epsilon", "own"), range(3)), Prf(derive_key(b"epsilon", "coin")))


def explored(policy: EpsilonGreedy) -> list[int | None]:
    """For each round the arm that exploration selects, or None where the means are the scores."""
    draw = draws()
    arms: list[int | None] = []
    for t in ROUNDS:
        scores = policy.score(ARMS, t, 1, draw.at(t, 1))
        greedy = scores.tolist() == [0.2, 0.7, 0.5]
        arms.append(None if greedy else int(scores.argmax()))
    return arms


def one_in_sqrt(t: int) -> float:
    return 1.0 / sqrt(t)


@pytest.mark.parametrize(
    ("epsilon", "probability"),
    [
        (0.1, lambda t: 0.1),
        (0.7, lambda t: 0.7),
        ("1/ln", lambda t: 1 / log(t)),
        ("1/log2", lambda t: 1 / log2(t)),
        (one_in_sqrt, one_in_sqrt),
    ],
)
def test_exploration_has_its_probability(
    epsilon: float | str | Callable[[int], float], probability: Callable[[int], float]
) -> None:
    policy = EpsilonGreedy(epsilon)
    chances = np.array([probability(t) for t in ROUNDS])
    assert [policy.probability(t) for t in ROUNDS] == chances.tolist()
    count = sum(arm is not None for arm in explored(policy))
    assert abs(count - chances.sum()) < 4 * np.sqrt((chances * (1 - chances)).sum())


def test_exploration_is_uniform_over_the_arms() -> None:
    counts = np.bincount([arm for arm in explored(EpsilonGreedy(0.5)) if arm is not None])
    assert stats.chisquare(counts).pvalue > 1e-3


def test_never_and_always() -> None:
    assert set(explored(EpsilonGreedy(0.0))) == {None}
    assert None not in explored(EpsilonGreedy(1.0))
    # 1/ln t is above 1 at the first round that is not given.
    assert EpsilonGreedy("1/ln").probability(2) > 1.0


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan"), float("inf")])
def test_epsilon_is_a_probability(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon is a probability"):
        EpsilonGreedy(epsilon)


def test_unknown_schedules_are_refused() -> None:
    with pytest.raises(InputError, match=r"'1/t'.*1/ln, 1/log2"):
        EpsilonGreedy("1/t")

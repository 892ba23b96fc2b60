"""Two worlds are told apart where something tells, and only there."""

import numpy as np
import pytest

from lotor.auditing import distinguishing
from lotor.auditing.worlds import MirroredArms, second_world
from lotor.core.effects import Decision
from lotor.core.fixed_point import Floats
from lotor.environments import (
    BernoulliArms,
    CallbackArms,
    ContextualArms,
    GraphArms,
    LinearArms,
    LinearContexts,
)
from lotor.protocols.attack import NOT_TRIED, Features

PAIRS, BITS, ROUNDS = 24, 400, 80


def runs(random: np.random.Generator, leak: float = 0.0) -> list[Features]:
    """The frequencies of bits in some runs, one of which is 1 more often if there is a leak."""
    shares = np.full(BITS, 0.5)
    shares[17] += leak
    return [{"bits": random.binomial(ROUNDS, shares) / ROUNDS} for _ in range(PAIRS)]


@pytest.mark.parametrize("joint", [True, False])
def test_one_bit_among_many_is_found(joint: bool) -> None:
    random = np.random.default_rng(1)
    found = distinguishing.score(runs(random, 0.4), runs(random, -0.4), joint=joint)
    assert (found.right, found.of, found.chance) == (16, 16, 0.5)


def test_only_all_bits_together_show_a_little_everywhere() -> None:
    random = np.random.default_rng(2)

    def slightly(sign: float) -> list[Features]:
        tables = random.binomial(ROUNDS, 0.5 + sign * 0.02, (PAIRS, BITS)).astype(np.float64)
        return [{"bits": row} for row in tables]

    assert distinguishing.score(slightly(1), slightly(-1), joint=True).right >= 15


@pytest.mark.parametrize("joint", [True, False])
def test_without_a_leak_half_of_the_pairs_are_right(joint: bool) -> None:
    random = np.random.default_rng(3)
    right = [
        distinguishing.score(runs(random), runs(random), joint=joint).right for _ in range(150)
    ]
    # 2400 tosses: five standard deviations are 0.051.
    assert abs(np.mean(right) / 16 - 0.5) < 0.051
    assert max(right) <= 15


def test_what_a_run_has_in_common_does_not_count_as_many_rounds() -> None:
    """Every run has a key that shows in all its rounds: still only pairs of runs are counted."""
    random = np.random.default_rng(4)

    def keyed() -> list[Features]:
        return [{"bits": random.integers(0, 2, BITS).astype(float)} for _ in range(PAIRS)]

    right = [distinguishing.score(keyed(), keyed(), joint=True).right for _ in range(150)]
    assert abs(np.mean(right) / 16 - 0.5) < 0.051


def test_runs_that_look_the_same_are_a_coin_toss() -> None:
    same: list[Features] = [{"sizes": np.array([5.0, 3.0])}] * PAIRS
    assert distinguishing.score(same, same, joint=True).right == 8


def test_lengths_that_never_vary_within_a_world_tell_everything() -> None:
    one: list[Features] = [{"sizes": np.array([5.0, 3.0])}] * PAIRS
    other: list[Features] = [{"sizes": np.array([5.0, 4.0])}] * PAIRS
    assert distinguishing.score(one, other, joint=True).right == 16


def test_a_feature_that_only_one_world_has() -> None:
    one: list[Features] = [{"a": np.ones(1), "b": np.ones(2)}] * PAIRS
    other: list[Features] = [{"a": np.ones(1)}] * PAIRS
    assert distinguishing.score(one, other, joint=True).right == 16


def test_too_few_pairs_and_nothing_to_see() -> None:
    some: list[Features] = [{"a": np.ones(1)}] * 3
    assert distinguishing.score(some, some, joint=True).of == 3
    assert distinguishing.score(some, [], joint=True) == NOT_TRIED
    assert distinguishing.score([{}], [{}], joint=True) == NOT_TRIED


def means(arms: object) -> Floats:
    assert isinstance(arms, BernoulliArms)
    return np.array(arms.means)


@pytest.mark.parametrize("given", [[0.9, 0.5, 0.1], [0.5] * 4, [0.0, 1.0], [0.97, 0.9]])
def test_the_second_world_has_other_means_even_without_names(given: list[float]) -> None:
    other = means(second_world(BernoulliArms(given)))
    assert np.abs(np.sort(other) - np.sort(given)).mean() > 0.15
    assert ((other >= 0) & (other <= 1)).all()


def test_second_worlds_of_other_arms() -> None:
    linear = second_world(LinearArms([[1, 0], [0, 1]], theta=[0.75, 0.25]))
    assert isinstance(linear, LinearArms)
    assert linear.theta.tolist() == [-0.75, -0.25]
    contexts = second_world(LinearContexts.toy(rounds=3))
    assert isinstance(contexts, LinearContexts)
    drawn = ContextualArms.bernoulli([[1, 0]], [[0.9, 0.2]])
    other = second_world(drawn)
    assert isinstance(other, ContextualArms)
    assert other.drawn
    assert np.allclose(other.rewards, [[0.1, 0.8]])
    assert second_world(GraphArms([[0, 1], [1, 0]], values=[0.1, 0.2])) is None


def test_functions_are_mirrored() -> None:
    async def late(decision: Decision) -> float:
        return 2.0

    arms = CallbackArms([lambda decision: 5.0, late], reward_range=(-5, 20))
    other = second_world(arms)
    assert isinstance(other, MirroredArms)
    assert (other.k, other.reward_range) == (2, (-5.0, 20.0))
    assert other.start(1)(Decision("demo", 1, 0, "demo-1")) == 10.0
    answer = other.start(1)(Decision("demo", 1, 1, "demo-2"))
    with pytest.raises(StopIteration) as ended:
        answer.send(None)  # type: ignore[union-attr]
    assert ended.value.value == 13.0

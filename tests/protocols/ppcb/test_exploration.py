"""How often a run explores, which arms it then takes, and how equal scores are decided.

Seeds decide all of it, and fixed keys the last digit of a score, so that these tests come out the
same each time.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

import lotor
from protocols.ppcb.stage import fixed_keys, play, traced_once

K = 3


@pytest.fixture(scope="module", autouse=True)
def _traced() -> Iterator[None]:
    with traced_once():
        yield


@pytest.fixture(autouse=True)
def _keyed() -> Iterator[None]:
    with fixed_keys():
        yield


def one_pays(rounds: int) -> lotor.ContextualArms:
    """The same context in each round, for which one arm alone pays."""
    return lotor.ContextualArms(np.ones((rounds, 1)), np.tile([0.0, 1.0, 0.0], (rounds, 1)))


def uniform(arms: Sequence[int]) -> float:
    return float(chisquare(np.bincount(arms, minlength=K)).pvalue)


def test_rounds_that_explore_are_as_many_as_epsilon_says() -> None:
    """What is known to be best is left in epsilon·(1 - 1/K) of the rounds, for any arm alike."""
    epsilon = 0.3
    arms = play(
        lotor.PPCB(epsilon=epsilon, owners=1, form="dealt"), one_pays(300), budget=300, seed=3
    ).arms
    known = arms[arms.index(1) + 1 :]
    others = [arm for arm in known if arm != 1]
    assert len(known) > 280
    assert binomtest(len(others), len(known), epsilon * (1 - 1 / K)).pvalue > 0.01
    assert binomtest(others.count(0), len(others)).pvalue > 0.01


def test_without_exploration_the_best_arm_stays() -> None:
    arms = play(
        lotor.PPCB(epsilon=0.0, owners=1, form="dealt"), one_pays(40), budget=40, seed=4
    ).arms
    assert set(arms[arms.index(1) :]) == {1}


def test_with_epsilon_1_all_arms_are_equally_frequent() -> None:
    arms = play(
        lotor.PPCB(epsilon=1.0, owners=1, form="dealt"), one_pays(120), budget=120, seed=5
    ).arms
    assert uniform(arms) > 0.01


def test_ties_of_the_first_step_are_decided_uniformly() -> None:
    protocol, arms = lotor.PPCB(epsilon=0.0, owners=1, form="dealt"), one_pays(1)
    first = [play(protocol, arms, budget=1, seed=seed).arms[0] for seed in range(120)]
    assert uniform(first) > 0.01


def test_ties_of_later_steps_are_decided_anew() -> None:
    """Contexts of length 0 give every arm the score 0, whatever was learnt."""
    arms = lotor.ContextualArms(np.zeros((100, 1)), np.ones((100, K)))
    taken = play(lotor.PPCB(epsilon=0.0, owners=1, form="dealt"), arms, budget=100, seed=6).arms
    assert uniform(taken) > 0.01
    pairs = K * np.array(taken[:-1]) + np.array(taken[1:])
    assert chisquare(np.bincount(pairs, minlength=K * K)).pvalue > 0.01

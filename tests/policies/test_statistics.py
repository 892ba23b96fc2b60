"""Total rewards on the MovieLens means of SAMBA's experiments, against known ones."""

from math import sqrt
from pathlib import Path
from statistics import mean

import pytest

import lotor
from lotor.policies import Policy

MEANS = Path(__file__).parents[2].parent / "shared/data/samba/MovieLens.txt"
K, BUDGET = 10, 100_000

pytestmark = pytest.mark.skipif(
    not MEANS.exists(), reason=f"no {MEANS.name} of SAMBA's program here"
)
KNOWN = [
    pytest.param(lotor.UCB(), 52257, 152, id="ucb"),
    pytest.param(lotor.ThompsonSampling(), 52991, 148, id="thompson-sampling"),
]
PUBLISHED = [
    pytest.param(lotor.EpsilonGreedy(0.1), 51069, id="epsilon-greedy"),
    pytest.param(lotor.EpsilonGreedy("1/log2"), 51862, id="decreasing"),
    pytest.param(lotor.Softmax(0.06), 49614, id="softmax"),
]


def mean_reward(policy: Policy, runs: int) -> float:
    _, *means = map(float, MEANS.read_text().split())
    arms = lotor.BernoulliArms(sorted(means, reverse=True)[:K])
    return mean(
        lotor.run(policy, arms, budget=BUDGET, seed=seed, trajectory=False).reward
        for seed in range(runs)
    )


def check_known(policy: Policy, expected: float, deviation: float, runs: int) -> None:
    measured = mean_reward(policy, runs)
    assert abs(measured - expected) < 4 * deviation / sqrt(runs), measured


def check_published(policy: Policy, published: float, runs: int) -> None:
    measured = mean_reward(policy, runs)
    assert abs(measured - published) < 0.03 * published, measured


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "expected", "deviation"), KNOWN)
def test_reward_of_one_run(policy: Policy, expected: float, deviation: float) -> None:
    check_known(policy, expected, deviation, runs=1)


@pytest.mark.long
@pytest.mark.parametrize(("policy", "expected", "deviation"), KNOWN)
def test_rewards_of_independent_runs(policy: Policy, expected: float, deviation: float) -> None:
    check_known(policy, expected, deviation, runs=8)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "published"), PUBLISHED)
def test_reward_of_one_run_is_near_the_published_mean(policy: Policy, published: float) -> None:
    check_published(policy, published, runs=1)


@pytest.mark.long
@pytest.mark.parametrize(("policy", "published"), PUBLISHED)
def test_rewards_published_by_the_authors(policy: Policy, published: float) -> None:
    check_published(policy, published, runs=10)

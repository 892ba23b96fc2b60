"""Against Algorithm 1 as it is written, with every inverse computed anew."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.policies import to_text
from lotor.protocols.contextual_draws import SERVERS, ServerDraws, threshold
from lotor.protocols.party import draw_key
from lotor.protocols.plain import Plain
from lotor.runtime.recorder import Recorder


def some_arms(seed: int, rounds: int = 60) -> lotor.ContextualArms:
    generator = np.random.default_rng(seed)
    k, d = int(generator.integers(1, 8)), int(generator.integers(1, 6))
    x = generator.normal(size=(rounds, d))
    x /= np.sqrt(np.square(x).sum(axis=1)).max()
    # Multiples of 1/8, so that no reward is rounded.
    rewards = generator.integers(-8, 9, size=(rounds, k)) / 8
    return lotor.ContextualArms(x, rewards, reward_range=(-1, 1))


def textbook(
    policy: lotor.LinearEpsilonGreedy,
    arms: lotor.ContextualArms,
    budget: int,
    seed: int,
    delay: int,
) -> tuple[list[int], float]:
    """Step by step, from the table and both servers' draws."""
    first, second = (ServerDraws(draw_key(seed, name), arms.k) for name in SERVERS)
    a = np.stack([policy.ridge * np.eye(arms.d)] * arms.k)
    b = np.zeros((arms.k, arms.d))
    pulled: list[int] = []
    total = 0.0
    for t in range(1, budget + 1):
        learned = t - 1 - delay  # the reward of round s is used once the arm of s + delay is chosen
        if learned >= 1:
            arm, x = pulled[learned - 1], arms.contexts[learned - 1]
            a[arm] += np.outer(x, x)
            b[arm] += (arms.rewards[learned - 1, arm] + 1) / 2 * x
        x = arms.contexts[t - 1]
        scores = [x @ np.linalg.inv(a[arm]) @ b[arm] for arm in range(arms.k)]
        if (first.coin(t) ^ second.coin(t)) < threshold(policy.epsilon):
            pulled.append((first.turn(t) + second.turn(t)) % arms.k)
        else:
            ranks = first.order(t)
            # Equal are arms that never earned anything. Of others, rounding must not decide.
            best = [arm for arm in range(arms.k) if scores[arm] == max(scores)]
            assume(sum(score > max(scores) - 1e-12 for score in scores) == len(best))
            pulled.append(max(best, key=lambda arm: ranks[arm]))
        total += arms.rewards[t - 1, pulled[-1]]
    return pulled, total


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    st.sampled_from([0.1, 1.0, 3.0]),
    st.integers(0, 4) | st.just(100),
)
def test_it_follows_algorithm_1(seed: int, epsilon: float, ridge: float, delay: int) -> None:
    arms = some_arms(seed)
    policy = lotor.LinearEpsilonGreedy(epsilon, ridge=ridge)
    result = lotor.run(Plain(policy, {"delay": delay}), arms, budget=60, seed=seed)
    pulled, total = textbook(policy, arms, 60, seed, delay)
    assert (result.arms, result.reward) == (pulled, total)


def test_a_policy_alone_runs_in_plain() -> None:
    arms = some_arms(5)
    policy = lotor.LinearEpsilonGreedy(0.2)
    result = lotor.run(policy, arms, budget=40, seed=3)
    assert result.arms == lotor.run(Plain(policy), arms, budget=40, seed=3).arms
    assert result.protocol == "plain"
    assert result.options == {"policy": to_text(policy), "delay": 0}
    assert list(result.parties) == ["agent"]


def test_a_decision_has_the_name_that_hides_its_arm() -> None:
    recorder = Recorder()
    result = lotor.run(
        lotor.LinearEpsilonGreedy(), some_arms(5), budget=3, seed=3, recorder=recorder
    )
    assert [decision.id for _, decision, _ in recorder.pulls] == [
        f"{result.run}/{t}" for t in (1, 2, 3)
    ]
    assert all(decision.context is None for _, decision, _ in recorder.pulls)


def test_equal_scores_are_decided_at_random() -> None:
    arms = lotor.ContextualArms(np.ones((400, 1)), np.zeros((400, 4)))
    pulled = lotor.run(lotor.LinearEpsilonGreedy(0), arms, budget=400, seed=2).arms or []
    assert all(65 <= count <= 135 for count in Counter(pulled).values())
    assert len(set(pulled)) == 4


def test_it_learns_and_explores() -> None:
    """The right arm pays 1: what chance leaves open is exploration's share of wrong arms."""
    labels = np.arange(2000) % 3
    arms = lotor.ContextualArms(np.eye(3)[labels], np.eye(3)[labels])
    greedy = lotor.run(lotor.LinearEpsilonGreedy(0), arms, budget=2000, seed=1).reward
    some = lotor.run(lotor.LinearEpsilonGreedy(0.3), arms, budget=2000, seed=1).reward
    chance = lotor.run(lotor.LinearEpsilonGreedy(1), arms, budget=2000, seed=1).reward
    assert greedy > 1950
    assert some == pytest.approx(2000 * (1 - 0.3 * 2 / 3), abs=80)
    assert chance == pytest.approx(2000 / 3, abs=80)


def test_the_digits_are_learned() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'lotor[data]'")
    arms = lotor.ContextualArms.digits()
    rewards = [
        lotor.run(lotor.LinearEpsilonGreedy(), arms, budget=1797, seed=seed).reward / 1797
        for seed in range(4)
    ]
    assert 0.6 < float(np.mean(rewards)) < 0.75


@pytest.mark.parametrize("delay", [-1, 1.5, True])
def test_a_delay_is_a_number_of_rounds(delay: int) -> None:
    with pytest.raises(InputError, match="delay"):
        Plain(lotor.LinearEpsilonGreedy(), {"delay": delay})


def test_arms_without_contexts_are_refused() -> None:
    with pytest.raises(InputError, match="needs arms with contexts, not BernoulliArms"):
        lotor.run(lotor.LinearEpsilonGreedy(), lotor.BernoulliArms([0.5, 0.1]), budget=5)


def test_a_run_longer_than_the_contexts_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="contexts for 60 rounds, fewer than the budget of 61"):
        lotor.run(lotor.LinearEpsilonGreedy(), some_arms(1), budget=61)


def test_one_round_is_enough() -> None:
    assert len(lotor.run(lotor.LinearEpsilonGreedy(), some_arms(2), budget=1).arms or []) == 1
    with pytest.raises(InputError, match="at least 1"):
        lotor.run(lotor.LinearEpsilonGreedy(), some_arms(2), budget=0)

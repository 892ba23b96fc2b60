from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.fixed_point import Floats, RewardScale
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.party import Run


def plan(arms: lotor.LinearArms, budget: int, seed: int) -> Run:
    return Run("00" * 16, arms.k, budget, RewardScale(*arms.reward_range), seed, arms, 2)


@given(st.integers(0, 2**48), st.integers(2, 40))
def test_draws_are_functions_of_the_round(seed: int, k: int) -> None:
    vectors: Floats = np.ones((k, 1))
    arms = lotor.LinearArms(vectors, [0.5])
    draws, again = (LinearDraws.simulated(plan(arms, 50, seed), arms) for _ in range(2))
    assert 0 <= draws.first() < k
    forward = [(draws.noise(t), draws.order(t).tolist()) for t in range(1, 30)]
    backward = [(again.noise(t), again.order(t).tolist()) for t in range(29, 0, -1)]
    assert forward == backward[::-1]
    assert all(sorted(order) == list(range(k)) for _, order in forward)
    assert len({noise for noise, _ in forward}) == 29


def test_first_arms_and_noise_follow_their_laws() -> None:
    arms = lotor.LinearArms(np.ones((5, 1)), [0.5], noise_sd=2.0)
    firsts = Counter(
        LinearDraws.simulated(plan(arms, 2, seed), arms).first() for seed in range(2000)
    )
    assert all(330 <= firsts[arm] <= 470 for arm in range(5))
    draws = LinearDraws.simulated(plan(arms, 5000, 1), arms)
    noise = np.array([draws.noise(t) for t in range(1, 5001)])
    assert abs(float(noise.mean())) < 0.12
    assert float(noise.std()) == pytest.approx(2.0, abs=0.1)

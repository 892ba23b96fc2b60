import numpy as np
import pytest
from scipy import stats

from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, ArmSnapshot, ArmStates, Draws, ThompsonSampling

POLICY = ThompsonSampling()


def draws(held: int) -> Draws:
    return Draws(Prf(derive_key(b"thompson", "own"), range(held)), Prf(bytes(32)))


def started(held: int) -> ArmStates:
    arms = ArmStates(held, held)
    POLICY.start(arms)
    return arms


def test_samples_follow_the_beta_posterior() -> None:
    arms, draw = started(3), draws(3)
    outcomes = ((0, 1), (1, 3), (9, 12))  # successes and pulls
    for i, (successes, n) in enumerate(outcomes):
        for j in range(n):
            POLICY.learn(arms, i, REWARD_ONE * (j < successes), draw.at(j + 1, 0))
    samples = np.array([POLICY.score(arms, t, 1, draw.at(t, 1)) for t in range(4000)])
    for i, (successes, n) in enumerate(outcomes):
        law = stats.beta(successes + 1, n - successes + 1)
        assert stats.kstest(samples[:, i], law.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(samples.T) - np.eye(3)).max() < 4 / np.sqrt(4000)


@pytest.mark.parametrize("bias", [0.03, 0.3, 0.5, 0.9])
def test_other_rewards_are_tossed_with_their_bias(bias: float) -> None:
    arms, draw = started(2), draws(2)
    reward = round(bias * REWARD_ONE)
    for t in range(1, 3001):
        POLICY.learn(arms, t % 2, reward, draw.at(t, 0))
    assert arms.s.tolist() == [1500 * reward, 1500 * reward]
    for successes in arms.own["successes"]:
        assert successes == int(successes)
        assert stats.binomtest(int(successes), 1500, bias).pvalue > 1e-3


def test_certain_rewards_are_not_tossed() -> None:
    arms, draw = started(2), draws(2)
    for t in range(1, 101):
        POLICY.learn(arms, 0, 0, draw.at(t, 0))
        POLICY.learn(arms, 1, REWARD_ONE, draw.at(t, 0))
    assert arms.own["successes"].tolist() == [0.0, 100.0]


def test_samples_are_finite_after_billions_of_pulls() -> None:
    n = 2**31 - 1
    own = {"successes": [0.0, n / 3, float(n)]}
    s = [0, n // 3 * REWARD_ONE, n * REWARD_ONE]
    arms = ArmStates.restore(ArmSnapshot(k=3, n=[n] * 3, s=s, own=own))
    samples = POLICY.score(arms, n, 1, draws(3).at(n, 1))
    assert samples.tolist() == pytest.approx([0.0, 1 / 3, 1.0], abs=1e-4)

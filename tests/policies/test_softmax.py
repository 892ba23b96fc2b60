import numpy as np
import pytest
from scipy import stats

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import SCORE_LIMIT, to_scores
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, ArmSnapshot, ArmStates, Draws, Softmax

MEANS = np.array([0.2, 0.7, 0.5, 0.6])
ARMS = ArmStates.restore(
    ArmSnapshot(k=4, n=[10] * 4, s=[REWARD_ONE * x for x in (2, 7, 5, 6)], own={})
)


def draws() -> Draws:
    return Draws(Prf(derive_key(b"softmax", "own"), range(4)), Prf(bytes(32)))


@pytest.mark.parametrize("tau", [0.06, 0.2, 1.0, 1e6])
def test_arms_are_pulled_in_proportion_to_the_exponential_of_their_mean(tau: float) -> None:
    policy, draw = Softmax(tau), draws()
    winners = [
        int(to_scores(policy.score(ARMS, t, 1, draw.at(t, 1))).argmax()) for t in range(8000)
    ]
    weights = np.exp((MEANS - MEANS.max()) / tau)
    expected = 8000 * weights / weights.sum()
    # The rarest arm of tau = 0.06 is expected twice: join it with the next for the chi-square.
    counts = np.bincount(winners, minlength=4)
    counts, expected = (np.append(v[0] + v[2], v[[1, 3]]) for v in (counts, expected))
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_the_coldest_and_the_hottest_temperature_have_usable_scores() -> None:
    draw = draws()
    for t in range(1000):
        cold = to_scores(Softmax(2.0 / SCORE_LIMIT).score(ARMS, t, 1, draw.at(t, 1)))
        assert int(cold.argmax()) == 1
        to_scores(Softmax(1e300).score(ARMS, t, 1, draw.at(t, 1)))


def test_tau_0_is_the_limit() -> None:
    draw = draws()
    for t in range(100):
        cold = to_scores(Softmax(2.0 / SCORE_LIMIT).score(ARMS, t, 1, draw.at(t, 1)))
        assert to_scores(Softmax(0).score(ARMS, t, 1, draw.at(t, 1))).argmax() == cold.argmax()
    tied = lotor.run(Softmax(0), lotor.BernoulliArms([1, 1, 0]), budget=603, seed=1).pulls
    assert tied[2] == 1
    assert stats.binomtest(tied[0], 602).pvalue > 1e-3


@pytest.mark.parametrize("tau", [-1e-9, -1.0, 1e-9, float("nan"), float("inf")])
def test_tau_is_a_temperature(tau: float) -> None:
    with pytest.raises(InputError, match="tau is a temperature"):
        Softmax(tau)

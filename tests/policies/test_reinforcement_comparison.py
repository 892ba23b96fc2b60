from math import exp

import numpy as np
import pytest
from scipy import stats

import lotor
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import to_scores
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, ArmStates, Draws, ReinforcementComparison


def draws() -> Draws:
    return Draws(Prf(derive_key(b"reinforcement", "own"), range(2)), Prf(bytes(32)))


def test_preferences_follow_the_surprise_and_the_reference_all_rewards() -> None:
    policy, arms, draw = ReinforcementComparison(alpha=0.5, beta=0.25), ArmStates(2, 2), draws()
    policy.start(arms)
    middle = arms.own["preference"].tolist()
    policy.learn(arms, 0, REWARD_ONE, draw.at(1, 0))
    policy.learn(arms, 1, 0, draw.at(2, 0))
    # Surprises 1 and -0.5; the reference goes 0, 0.5, 0.25.
    assert (arms.own["preference"] - middle).tolist() == [0.25, -0.125]
    assert arms.own["reference"].tolist() == [0.25]
    assert (arms.n.tolist(), arms.s.tolist()) == ([1, 1], [REWARD_ONE, 0])


def test_arms_are_pulled_in_proportion_to_the_exponential_of_their_preference() -> None:
    policy, arms, draw = ReinforcementComparison(), ArmStates(2, 2), draws()
    policy.start(arms)
    arms.own["preference"][0] += 0.7
    scores = [to_scores(policy.score(arms, t, 1, draw.at(t, 1))) for t in range(6000)]
    count = sum(int(score.argmax()) == 0 for score in scores)
    assert stats.binomtest(count, 6000, exp(0.7) / (exp(0.7) + 1)).pvalue > 1e-3


def test_it_learns_in_plain() -> None:
    arms = lotor.BernoulliArms([0.2, 0.8, 0.3])
    result = lotor.run(ReinforcementComparison(alpha=0.1, beta=0.3), arms, budget=2000, seed=3)
    assert result.arms is not None
    counts = np.bincount(result.arms[1000:], minlength=3)
    assert counts[1] > 800


def test_samba_refuses_it_and_names_the_condition() -> None:
    with pytest.raises(PolicyError, match=r"arm score locality .* depends on the data of other"):
        lotor.Samba(ReinforcementComparison())


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, float("nan"), float("inf")])
def test_both_rates_are_checked(rate: float) -> None:
    with pytest.raises(InputError, match="alpha is a learning rate"):
        ReinforcementComparison(alpha=rate)
    with pytest.raises(InputError, match="beta is a learning rate"):
        ReinforcementComparison(beta=rate)

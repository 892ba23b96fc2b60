import numpy as np
import pytest
from scipy import stats

from lotor.core.errors import InputError
from lotor.core.fixed_point import to_scores
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, ArmSnapshot, ArmStates, Bits, Draws, Pursuit


def draws(held: int) -> Draws:
    return Draws(Prf(derive_key(b"pursuit", "own"), range(held)), Prf(bytes(32)))


def with_p(*p: float) -> ArmStates:
    held = len(p)
    s = [REWARD_ONE * (i == 0) for i in range(held)]
    return ArmStates.restore(ArmSnapshot(k=held, n=[1] * held, s=s, own={"p": list(p)}))


def winners(policy: Pursuit, arms: ArmStates, rounds: int) -> list[int]:
    draw = draws(len(arms))
    return [int(to_scores(policy.score(arms, t, 2, draw.at(t, 2))).argmax()) for t in range(rounds)]


def best(held: int, arm: int) -> Bits:
    return np.array([i == arm for i in range(held)])


def test_the_example_of_the_paper() -> None:
    policy, arms = Pursuit(beta=0.1), ArmStates(3, 3)
    policy.start(arms)
    assert arms.own["p"].tolist() == [1 / 3] * 3
    policy.observe(arms, 4, 1, best(3, 0))
    assert arms.own["p"].tolist() == pytest.approx([0.4, 0.3, 0.3])
    policy.observe(arms, 4, 2, best(3, 1))  # the pull itself moves nothing
    assert arms.own["p"].tolist() == pytest.approx([0.4, 0.3, 0.3])


def test_the_first_iteration_finds_the_best_mean() -> None:
    arms = with_p(0.1, 0.9)
    assert Pursuit().score(arms, 3, 1, draws(2).at(3, 1)).tolist() == [1.0, 0.0]


def test_an_owner_of_one_arm_starts_from_the_same_p() -> None:
    arms = ArmStates(1, 8)
    Pursuit().start(arms)
    assert arms.own["p"].tolist() == [0.125]


def test_arms_are_pulled_with_probability_p() -> None:
    p = np.array([0.05, 0.15, 0.3, 0.5])
    counts = np.bincount(winners(Pursuit(), with_p(*p.tolist()), 8000), minlength=4)
    assert stats.chisquare(counts, 8000 * p).pvalue > 1e-3


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-300, 1e-30])
def test_a_tiny_p_is_never_selected_and_has_a_finite_score(tiny: float) -> None:
    assert set(winners(Pursuit(), with_p(tiny, 0.5, 0.5), 2000)) == {1, 2}


def test_p_may_underflow() -> None:
    policy, arms = Pursuit(beta=0.5), with_p(0.5, 0.5)
    for t in range(3, 3000):
        policy.observe(arms, t, 1, best(2, 0))
    assert arms.own["p"].tolist() == [1.0, 5e-324]
    assert set(winners(policy, arms, 500)) == {0}
    policy.observe(arms, 3000, 1, best(2, 1))
    assert arms.own["p"].tolist() == [0.5, 0.5]


def test_beta_one_jumps_to_the_best_arm() -> None:
    policy, arms = Pursuit(beta=1.0), with_p(0.25, 0.25, 0.5)
    for arm in (2, 0, 1):
        policy.observe(arms, 4, 1, best(3, arm))
        assert arms.own["p"].tolist() == best(3, arm).tolist()
        assert set(winners(policy, arms, 500)) == {arm}


def test_beta_0_stays_where_it_began() -> None:
    policy, arms = Pursuit(beta=0), ArmStates(3, 3)
    policy.start(arms)
    policy.observe(arms, 4, 1, best(3, 0))
    assert arms.own["p"].tolist() == [1 / 3] * 3


@pytest.mark.parametrize("beta", [-0.1, 1.1, float("nan"), float("inf")])
def test_beta_is_a_learning_rate(beta: float) -> None:
    with pytest.raises(InputError, match="beta is a learning rate"):
        Pursuit(beta)

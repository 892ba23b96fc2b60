"""The first test of every form: the same arms and the same total as plain, literally."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lotor
from lotor.policies import Policy, to_text

FORMS = ["shared", "dealt"]
POLICIES = [
    lotor.UCB(),
    lotor.KLUCB(c=3),
    lotor.EpsilonGreedy(0.3),
    lotor.EpsilonGreedy("1/log2"),
    lotor.EpsilonGreedy(lambda t: 2 / t),
    lotor.ThompsonSampling(),
    lotor.Softmax(0.1),
    lotor.Pursuit(0.2),
]
means = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=7
)


def assert_equals_plain(
    samba: lotor.Samba, arms: lotor.environments.Environment, budget: int, seed: int
) -> lotor.Result:
    secure = lotor.run(samba, arms, budget=budget, seed=seed)
    plain = lotor.run(samba.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward
    return secure


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policy=st.sampled_from(POLICIES),
    means=means,
    extra=st.integers(0, 50),
    seed=st.integers(0, 2**48),
    data=st.data(),
)
def test_secure_equals_plain_arm_by_arm(
    form: str, policy: Policy, means: list[float], extra: int, seed: int, data: st.DataObject
) -> None:
    owners = data.draw(st.integers(1, len(means)), label="owners")
    samba = lotor.Samba(policy, owners=owners, form=form)
    assert_equals_plain(samba, lotor.BernoulliArms(means), len(means) + extra, seed)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_ties_all_the_way(form: str, policy: Policy, mean: float) -> None:
    """All rewards equal: every choice is a tie or a draw."""
    samba = lotor.Samba(policy, form=form)
    assert_equals_plain(samba, lotor.BernoulliArms([mean] * 6), 60, 3)


def uneven(scale: float) -> Callable[[lotor.Decision], float]:
    return lambda decision: (decision.round * 0.618 * scale) % 7.0 - 3.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
def test_rewards_that_are_not_bits(form: str, policy: Policy) -> None:
    arms = lotor.CallbackArms([uneven(i + 1.0) for i in range(4)], reward_range=(-3.0, 4.0))
    assert_equals_plain(lotor.Samba(policy, owners=2, form=form), arms, 60, 5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [2, 3, 17, 33, 64, 100])
@pytest.mark.parametrize("many", [False, True])
def test_numbers_of_arms_and_owners(form: str, k: int, many: bool) -> None:
    arms = lotor.BernoulliArms([i / k for i in range(k)])
    samba = lotor.Samba(lotor.ThompsonSampling(), owners=k if many else 1, form=form)
    assert_equals_plain(samba, arms, k + 5, 12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
def test_layout_does_not_matter(form: str, policy: Policy) -> None:
    """K owners of one arm do the same as one owner of K arms, and as anything between."""
    arms = lotor.BernoulliArms([0.2, 0.4, 0.6, 0.5, 0.1])
    for owners in (1, 2, 5):
        assert_equals_plain(lotor.Samba(policy, owners=owners, form=form), arms, 40, 11)


@pytest.mark.parametrize("form", FORMS)
def test_a_budget_without_a_choice(form: str) -> None:
    assert_equals_plain(lotor.Samba(form=form), lotor.BernoulliArms([0.2, 0.4]), 2, 11)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", [lotor.UCB(), lotor.Pursuit(0.2)], ids=to_text)
def test_ten_thousand_rounds(form: str, policy: Policy) -> None:
    arms = lotor.BernoulliArms([0.05 + 0.09 * i for i in range(10)])
    assert_equals_plain(lotor.Samba(policy, form=form), arms, 10_000, 21)

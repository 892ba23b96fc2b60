"""The dealt form's first test: the same arms and the same total as plain, literally."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.crypto.prf import Prf, new_key
from lotor.crypto.sharing import run_locally, split
from lotor.environments.base import Environment
from lotor.policies import Policy, to_text
from lotor.protocols.samba.dealt.circuit import select
from lotor.protocols.samba.tie_order import TieOrder

POLICIES = [
    lotor.UCB(),
    lotor.EpsilonGreedy(0.3),
    lotor.EpsilonGreedy("1/ln"),
    lotor.EpsilonGreedy(lambda t: 2 / t),
    lotor.ThompsonSampling(),
    lotor.Softmax(0.1),
    lotor.Pursuit(0.2),
]
means = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=7
)


def check(samba: lotor.Samba, arms: Environment, budget: int, seed: int) -> None:
    secure = lotor.run(samba, arms, budget=budget, seed=seed)
    plain = lotor.run(samba.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize(("k", "owners"), [(20, 4), (21, 21), (100, 7)])
def test_many_arms_that_all_tie(policy: Policy, k: int, owners: int) -> None:
    """All rewards equal: every choice is a tie or a draw, by tables and by packed bits."""
    samba = lotor.Samba(policy, owners=owners, form="dealt")
    for mean in (0.0, 1.0):
        check(samba, lotor.BernoulliArms([mean] * k), k + 12, seed=k)


@pytest.mark.parametrize("k", [160, 1000])
def test_a_tournament(k: int) -> None:
    samba = lotor.Samba(lotor.UCB(), owners=3, form="dealt")
    arms = lotor.BernoulliArms([i % 3 / 2 for i in range(k)])
    check(samba, arms, k + 20, seed=1)


@settings(max_examples=60)
@given(data=st.data(), k=st.integers(1, 30), key=st.binary(min_size=32, max_size=32))
def test_the_largest_of_any_scores_with_the_ties_of_plain(
    data: st.DataObject, k: int, key: bytes
) -> None:
    """All 63 bits count, up to both ends."""
    ends = st.sampled_from([0, 1, 2**62 - 1, 2**62, 2**63 - 2, 2**63 - 1])
    scores = data.draw(st.lists(ends | st.integers(0, 2**63 - 1), min_size=k, max_size=k))
    draws, order = Prf(key, range(k)).integers(0, 7, 1), TieOrder(key, range(k)).at(7, 1)
    shares = run_locally(select, split(np.array(scores, np.uint64)[order]))
    one_hot = np.empty(k, np.uint8)
    one_hot[order] = shares[0].share ^ shares[1].share
    winner = max(range(k), key=lambda arm: (scores[arm], draws[arm]))
    assert one_hot.tolist() == [arm == winner for arm in range(k)]


def test_of_equal_draws_the_first_arm_comes_first() -> None:
    order = TieOrder(new_key(), range(4))
    order._draws.words = lambda *_: np.array([5, 9, 5, 9], np.uint64)  # type: ignore[method-assign]
    assert order.at(1, 1).tolist() == [1, 3, 0, 2]

"""Owners that are lost for good: the run goes on as plain without their arms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from helpers import Outcome
from losing import drive_bereft, losses, run_losing
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.policies import Policy
from lotor.protocols.samba.shared.customer import SambaSharedCustomer
from lotor.protocols.samba.shared.messages import Escrow
from lotor.protocols.samba.wire import place_from

MEANS = [0.2, 0.5, 0.8, 0.4, 0.6]
ARMS = lotor.BernoulliArms(MEANS)
OWNERS = {"owner-1": [0], "owner-2": [1, 2], "owner-3": [3, 4]}
BUDGET = 30
POLICIES = [
    lotor.UCB(),
    lotor.EpsilonGreedy("1/ln"),
    lotor.ThompsonSampling(),
    lotor.Softmax(0.1),
    lotor.Pursuit(0.2),
]
SET_UP = 1
"""So many messages an owner sends before its rounds: a public key; the first owner sends two."""


def after(owner: str, rounds: int, *, iterations: int = 1, more: int = 0) -> int:
    """How many messages an owner has sent after so many rounds, and so many more."""
    return SET_UP + (owner == "owner-1") + rounds * (1 + iterations) + more


def last_escrows(outcome: Outcome) -> dict[str, int]:
    """Before which round each owner has last said what it has counted."""
    found = {}
    for one in outcome.recorder.exchanges:
        if isinstance(one.message, Escrow):
            place = place_from(one.message.place)
            assert place is not None
            found[one.sender] = place[0]
    return found


def check(outcome: Outcome, samba: lotor.Samba, sent: dict[str, int]) -> dict[str, int]:
    """Arms are those of plain, and the total counts what was escrowed."""
    left = losses(outcome)
    assert set(left) == set(sent)
    absent = {arm: left[owner] for owner in left for arm in OWNERS[owner]}
    arms, pulls = drive_bereft(samba, ARMS, absent, budget=BUDGET)
    assert outcome.arms == arms
    escrowed = last_escrows(outcome)
    counted = []
    for t, arm, reward in pulls:
        owner = next(owner for owner, held in OWNERS.items() if arm in held)
        if owner not in sent or t < escrowed.get(owner, 0):
            counted.append(reward)
    customer = outcome.parties["customer"]
    assert isinstance(customer, SambaSharedCustomer)
    assert customer.outcomes == len(counted)
    fixed = sum(RewardScale().to_fixed(reward) for reward in counted)
    assert outcome.seats["customer"].output == RewardScale().total(fixed, len(counted))
    assert customer.left == left
    return left


def check_any(data: st.DataObject, policy: Policy) -> None:
    samba = lotor.Samba(policy, owners=3, exclude_after="7d")
    lost = data.draw(st.lists(st.sampled_from(sorted(OWNERS)), min_size=1, max_size=2, unique=True))
    most = (BUDGET - len(MEANS)) * (1 + policy.iterations)
    sent = {owner: after(owner, 0, more=data.draw(st.integers(0, most))) for owner in lost}
    check(run_losing(samba, ARMS, sent, budget=BUDGET), samba, sent)


@settings(max_examples=8)
@given(data=st.data(), policy=st.sampled_from(POLICIES))
def test_the_rest_equals_plain_without_their_arms(data: st.DataObject, policy: Policy) -> None:
    check_any(data, policy)


@pytest.mark.long
@settings(max_examples=60)
@given(data=st.data(), policy=st.sampled_from(POLICIES))
def test_whoever_is_lost_and_whenever(data: st.DataObject, policy: Policy) -> None:
    check_any(data, policy)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("rounds", [0, 10, BUDGET - len(MEANS)])
def test_in_the_first_round_in_the_middle_and_at_the_total(owner: str, rounds: int) -> None:
    samba = lotor.Samba(owners=3, exclude_after="7d")
    sent = {owner: after(owner, rounds)}
    left = check(run_losing(samba, ARMS, sent, budget=BUDGET), samba, sent)
    assert left == {owner: len(MEANS) + rounds + 1}


def test_between_the_iterations_of_a_round() -> None:
    samba = lotor.Samba(lotor.Pursuit(0.2), owners=3, exclude_after="7d")
    for more in (1, 2):
        sent = {"owner-2": after("owner-2", 8, iterations=2, more=more)}
        left = check(run_losing(samba, ARMS, sent, budget=BUDGET), samba, sent)
        assert left == {"owner-2": len(MEANS) + 9}


def test_two_in_the_same_round_one_after_the_other_or_together() -> None:
    samba = lotor.Samba(lotor.Pursuit(0.2), owners=3, exclude_after="7d")
    sent = {owner: after(owner, 8, iterations=2) for owner in ("owner-1", "owner-3")}
    for together in (False, True):
        outcome = run_losing(samba, ARMS, sent, budget=BUDGET, together=together)
        assert set(check(outcome, samba, sent).values()) == {len(MEANS) + 9}


def test_nothing_changes_where_nobody_is_lost() -> None:
    samba = lotor.Samba(owners=3, exclude_after="7d")
    secure = lotor.run(samba, ARMS, budget=BUDGET, seed=1)
    assert secure.agrees_with(lotor.run(samba.plain(), ARMS, budget=BUDGET, seed=1))


@pytest.mark.parametrize("form", ["paper", "dealt"])
def test_other_forms_refuse_it(form: str) -> None:
    with pytest.raises(InputError, match="no shares of what a lost owner has counted"):
        lotor.Samba(form=form, exclude_after="7d")
    with pytest.raises(InputError, match="exclude_after is '7'"):
        lotor.Samba(exclude_after="7")

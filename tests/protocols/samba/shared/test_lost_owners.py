"""Owners that are lost for good: the run goes on as plain without their arms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from helpers import Outcome
from losing import SINCE, drive_bereft, exclusion_by, losses, run_losing
from lotor.core.draws import Draws
from lotor.core.effects import Effect, Exclusion, Send
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.crypto.signing import Identity
from lotor.policies import ArmStates, Policy
from lotor.policies.base import Bits
from lotor.protocols.exclusion import agree
from lotor.protocols.samba.shared.customer import SambaSharedCustomer
from lotor.protocols.samba.shared.messages import CoveredScores, Escrow, OwnersLeft, ResultShares
from lotor.protocols.samba.tagged_totals import SHARE_BYTES
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
RUN = "aa" * 16
SET_UP = 1
"""So many messages an owner sends before its rounds: a public key; the first owner sends two."""


@dataclass(frozen=True, slots=True)
class Remembering(Policy):
    """Prefers arms that have won the first iterations an odd number of times."""

    iterations: ClassVar[int] = 2

    def start(self, arms: ArmStates) -> None:
        arms.own["won"] = np.zeros(len(arms))

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return 1.0 + draw.uniform() if l == 1 else 1.0 + 4.0 * (arms.own["won"] % 2)

    def observe(self, arms: ArmStates, t: int, l: int, bits: Bits) -> None:
        if l == 1:
            arms.own["won"] += bits


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
    """What the others have noted of the first iteration of that round does not count."""
    samba = lotor.Samba(Remembering(), owners=3, exclude_after="7d")
    for rounds in (1, 2, 8, 17):
        for more in (1, 2):
            sent = {"owner-2": after("owner-2", rounds, iterations=2, more=more)}
            left = check(run_losing(samba, ARMS, sent, budget=BUDGET), samba, sent)
            assert left == {"owner-2": len(MEANS) + rounds + 1}


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


def test_a_run_that_continues_another_escrows_its_own_sums_alone() -> None:
    samba = lotor.Samba(owners=3, exclude_after="7d", keep=True)
    first = lotor.run(samba, ARMS, budget=BUDGET, seed=1)
    second = lotor.run(samba, ARMS, budget=BUDGET, seed=1, continues=first)
    plain = lotor.run(samba.plain(), ARMS, budget=BUDGET, seed=1)
    assert first.agrees_with(plain)
    again = lotor.run(samba.plain(), ARMS, budget=BUDGET, seed=1, continues=plain)
    assert second.agrees_with(again)


@pytest.mark.parametrize(
    ("options", "pulled"),
    [({"outstanding": 8, "batch": 2, "delay": "uniform:0-6"}, 18), ({"delay": "geometric:4"}, 12)],
)
def test_where_outcomes_come_late(options: dict[str, str | int], pulled: int) -> None:
    samba = lotor.Samba(lotor.UCB(), owners=3, exclude_after="7d", **options)  # type: ignore[arg-type]
    outcome = run_losing(samba, ARMS, {"owner-2": after("owner-2", pulled)}, budget=BUDGET)
    left = losses(outcome)
    assert left == {"owner-2": len(MEANS) + pulled + 1}
    absent = dict.fromkeys(OWNERS["owner-2"], left["owner-2"])
    arms, pulls = drive_bereft(samba, ARMS, absent, budget=BUDGET)
    assert outcome.arms == arms
    customer = outcome.parties["customer"]
    assert isinstance(customer, SambaSharedCustomer)
    # All others' outcomes come in the end, and of the lost one's those that came in time.
    others = [one for one in pulls if one[1] not in OWNERS["owner-2"]]
    before = [t for t, arm, _ in pulls if arm in OWNERS["owner-2"] and t < left["owner-2"] - 1]
    assert customer.outcomes is not None
    assert len(others) <= customer.outcomes <= len(others) + len(before)


Cheat = Callable[[OwnersLeft, Mapping[str, Identity]], OwnersLeft]


def without_one_agreement(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    (owner,) = left.exclusion.away
    agreed = dict(left.exclusion.agreements[owner])
    del agreed["owner-3"]
    return of_exclusion(left, Exclusion(left.exclusion.away, {owner: agreed}))


def forged_by_controller(left: OwnersLeft, identities: Mapping[str, Identity]) -> OwnersLeft:
    forged = agree(identities["controller"], RUN, "owner-2", SINCE)
    return with_agreement(left, "owner-3", forged)


def of_another_run(left: OwnersLeft, identities: Mapping[str, Identity]) -> OwnersLeft:
    return with_agreement(left, "owner-3", agree(identities["owner-3"], "bb", "owner-2", SINCE))


def of_another_absence(left: OwnersLeft, identities: Mapping[str, Identity]) -> OwnersLeft:
    return with_agreement(left, "owner-3", agree(identities["owner-3"], RUN, "owner-2", 1.0))


def of_another_owner(left: OwnersLeft, identities: Mapping[str, Identity]) -> OwnersLeft:
    return with_agreement(left, "owner-3", agree(identities["owner-3"], RUN, "owner-1", SINCE))


def with_agreement(left: OwnersLeft, signer: str, signature: bytes) -> OwnersLeft:
    agreed = {**left.exclusion.agreements["owner-2"], signer: signature}
    return of_exclusion(left, Exclusion(left.exclusion.away, {"owner-2": agreed}))


def of_exclusion(left: OwnersLeft, exclusion: Exclusion) -> OwnersLeft:
    return msgspec.structs.replace(left, exclusion=exclusion)


def in_another_round(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    return msgspec.structs.replace(left, t=left.t - 1)


CHEATS: list[tuple[Cheat, str]] = [
    (without_one_agreement, "owner-3 has not agreed to go on without owner-2: nobody can be"),
    (forged_by_controller, "owner-3 has not agreed to go on without owner-2: the signature"),
    (of_another_run, "owner-3 has not agreed to go on without owner-2: the signature"),
    (of_another_absence, "owner-3 has not agreed to go on without owner-2: the signature"),
    (of_another_owner, "owner-3 has not agreed to go on without owner-2: the signature"),
    (in_another_round, "where round 10 is due: it is out of step"),
]


@pytest.mark.parametrize(
    ("cheat", "complaint"), CHEATS, ids=lambda one: getattr(one, "__name__", "")
)
@pytest.mark.parametrize("victim", ["comp", "owner-1"])
def test_controller_alone_excludes_nobody(cheat: Cheat, complaint: str, victim: str) -> None:
    def change(effect: Effect, identities: Mapping[str, Identity]) -> Effect:
        left = effect.message if isinstance(effect, Send) and effect.to == victim else None
        return Send(victim, cheat(left, identities)) if isinstance(left, OwnersLeft) else effect

    if (cheat, victim) == (in_another_round, "customer"):
        return  # it hears of no rounds
    samba = lotor.Samba(owners=3, exclude_after="7d")
    sent = {"owner-2": after("owner-2", 4)}
    with pytest.raises(ProtocolError, match=complaint) as error:
        run_losing(samba, ARMS, sent, budget=BUDGET, change=change)
    assert error.value.__notes__ == [f"(raised at {victim})"]


def no_escrow(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    return msgspec.structs.replace(left, escrows={})


def an_older_escrow(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    return with_escrow(left, 0, left.t - 2)


def a_later_escrow(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    return with_escrow(left, 0, left.t + 1)


def an_escrow_of_a_later_era(left: OwnersLeft, _: Mapping[str, Identity]) -> OwnersLeft:
    return with_escrow(left, 1, left.t - 1)


def with_escrow(left: OwnersLeft, era: int, t: int) -> OwnersLeft:
    return msgspec.structs.replace(left, escrows=dict.fromkeys(left.escrows, (era, t)))


@pytest.mark.parametrize("rounds", [4, BUDGET - len(MEANS)], ids=["in a round", "at the total"])
@pytest.mark.parametrize(
    "cheat", [no_escrow, an_older_escrow, a_later_escrow, an_escrow_of_a_later_era]
)
def test_comp_counts_no_other_sum_than_the_last_one(cheat: Cheat, rounds: int) -> None:
    """A Controller that drops outcomes of a lost owner would show in no tag."""

    def change(effect: Effect, identities: Mapping[str, Identity]) -> Effect:
        left = effect.message if isinstance(effect, Send) and effect.to == "comp" else None
        return Send("comp", cheat(left, identities)) if isinstance(left, OwnersLeft) else effect

    samba = lotor.Samba(owners=3, exclude_after="7d")
    sent = {"owner-2": after("owner-2", rounds)}
    with pytest.raises(ProtocolError, match="not what owner-2 left last") as error:
        run_losing(samba, ARMS, sent, budget=BUDGET, change=change)
    assert error.value.__notes__ == ["(raised at comp)"]


def test_nobody_leaves_where_the_terms_do_not_say_so() -> None:
    """And a Controller that claims it all the same is not believed."""

    def change(effect: Effect, identities: Mapping[str, Identity]) -> Effect:
        shown = isinstance(effect, Send) and isinstance(effect.message, ResultShares)
        if shown and effect.to == "owner-1":  # type: ignore[union-attr]
            staying = [name for name in identities if name != "owner-2"]
            exclusion = exclusion_by(identities, RUN, ["owner-2"], staying)
            return Send("owner-1", OwnersLeft(6, exclusion, {}))
        return effect

    with pytest.raises(ProtocolError, match="the terms of this run do not allow it"):
        run_losing(lotor.Samba(owners=3), ARMS, {}, budget=BUDGET, change=change)


@pytest.mark.parametrize(
    ("away", "complaint"),
    [
        (["comp"], "only owners can, and not the last one"),
        (["owner-9"], "an exclusion of owner-9 cannot be followed"),
        ([], "an exclusion of nobody cannot be followed"),
        (sorted(OWNERS), "only owners can, and not the last one"),
    ],
)
def test_only_owners_leave_and_not_all_of_them(away: list[str], complaint: str) -> None:
    def change(effect: Effect, identities: Mapping[str, Identity]) -> Effect:
        shown = isinstance(effect, Send) and isinstance(effect.message, ResultShares)
        if shown and effect.to == "owner-1":  # type: ignore[union-attr]
            staying = [name for name in identities if name not in away]
            exclusion = exclusion_by(identities, RUN, away, staying)
            return Send("owner-1", OwnersLeft(6, exclusion, {}))
        return effect

    samba = lotor.Samba(owners=3, exclude_after="7d")
    with pytest.raises(ProtocolError, match=complaint):
        run_losing(samba, ARMS, {}, budget=BUDGET, change=change)


def test_all_that_left_fits_its_place_and_shows_nothing() -> None:
    """Escrows are shares: whoever has one of the two servers' keys reads nothing off them."""
    samba = lotor.Samba(owners=3, exclude_after="7d")
    outcome = run_losing(samba, ARMS, {"owner-2": after("owner-2", 9)}, budget=BUDGET)
    escrows = [one for one in outcome.recorder.exchanges if isinstance(one.message, Escrow)]
    places = [(one.sender, one.message.place) for one in escrows]  # type: ignore[attr-defined]
    shares = [one.message.share for one in escrows]  # type: ignore[attr-defined]
    assert len(set(places)) == len(places)
    # The void round's share hides the same sum as the one after it, under another mask.
    assert len(set(shares)) == len(shares)
    assert {len(share) for share in shares} == {SHARE_BYTES}
    messages = [one.message for one in outcome.recorder.exchanges]
    covered = [one.scores for one in messages if isinstance(one, CoveredScores)]
    assert len(set(covered)) == len(covered)


@pytest.mark.parametrize("form", ["paper", "dealt"])
def test_other_forms_refuse_it(form: str) -> None:
    with pytest.raises(InputError, match="no shares of what a lost owner has counted"):
        lotor.Samba(form=form, exclude_after="7d")
    with pytest.raises(InputError, match="exclude_after is '7'"):
        lotor.Samba(exclude_after="7")
    with pytest.raises(InputError, match="leave one of the two out"):
        lotor.Samba(exclude_after="7d", reveal="best")

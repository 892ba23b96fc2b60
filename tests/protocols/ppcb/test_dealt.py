"""PPCB's form with a dealer: seats, orders, refusals, and parties built from an order."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from math import inf

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import FormatError, InputError, LotorError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity, trusting_identities
from lotor.privacy import Accountant
from lotor.protocols.contextual_draws import SERVERS
from lotor.protocols.form import ACT, FEATURES, PULL, Assignment, Contribution, Member
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.ppcb.dealt.actor import PPCBActor
from lotor.protocols.ppcb.dealt.dealer import PPCBDealer
from lotor.protocols.ppcb.dealt.form import PPCBDealt
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.demo import FIRMS, feature_parties
from lotor.protocols.ppcb.form import BOTH
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.terms import PPCBTerms, terms_from
from lotor.runtime.durable.host import first_snapshot
from protocols.ppcb.stage import some_arms

FORM = PPCBDealt()
OWNERS = {"airline": 2, "hotel": 1}
ARMS, BUDGET = 4, 12
PROTOCOL = lotor.PPCB(epsilon=0.5, bits=18, delay=1, form="dealt")
SINGLE = ("receiver", "actor", "dealer")
SEATS = (*SINGLE, *BOTH, *OWNERS)


def members(owners: Mapping[str, int] = OWNERS, arms: int = ARMS) -> dict[str, list[Member]]:
    return {
        "receiver": [Member("shop", Contribution(low=-1.0, high=2.0))],
        "actor": [Member("site", Contribution(arms=arms))],
        "dealer": [Member("bank")],
        "server": [Member("north"), Member("south")],
        "owner": [Member(name, Contribution(features=d)) for name, d in owners.items()],
    }


@cache
def identities() -> Mapping[str, Identity]:
    return trusting_identities(list(SEATS))


def opened(
    protocol: lotor.PPCB = PROTOCOL,
    named: Mapping[str, list[Member]] | None = None,
    budget: int = BUDGET,
) -> tuple[bytes, Party]:
    return FORM.open(protocol, "aa", named or members(), budget, identities()["receiver"])


ORDER, RECEIVER = opened()


def place(seat: str, **more: object) -> Assignment:
    made = Assignment(
        "aa",
        seat,
        ORDER,
        identities()[seat],
        contribution=Contribution(
            arms=ARMS if seat == "actor" else 0, features=OWNERS.get(seat, 0)
        ),
        brings=frozenset({PULL, ACT, FEATURES}),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_order_says_what_was_asked_for() -> None:
    terms = terms_from(ORDER)
    assert (terms.budget, terms.arms, terms.owners) == (BUDGET, ARMS, OWNERS)
    assert (terms.bits, terms.delay, terms.scale) == (18, 1, RewardScale(-1, 2))
    plan = FORM.plan(ORDER)
    assert plan.policy.startswith("linear-epsilon-greedy:epsilon=0.5")
    assert (plan.budget, plan.k, plan.owners) == (BUDGET, ARMS, None)
    assert (plan.privacy, plan.delta) == (Accountant(ARMS, 0.5).total(BUDGET), 1e-6)
    assert plan.account == terms.account()
    assert plan.seats == {
        **{seat: seat for seat in SINGLE},
        **dict.fromkeys(BOTH, "server"),
        **dict.fromkeys(OWNERS, "owner"),
    }


def test_without_exploration_there_is_no_bound() -> None:
    assert FORM.plan(opened(lotor.PPCB(epsilon=0.0, form="dealt"))[0]).privacy == inf


def test_a_privacy_budget_shortens_the_run() -> None:
    """And whoever is asked for consent reads how long it really is."""
    accountant = Accountant(ARMS, 0.5)
    plan = FORM.plan(opened(replace(PROTOCOL, privacy_budget=accountant.total(5)))[0])
    assert plan.budget == 5
    assert plan.privacy == accountant.total(5)


@pytest.mark.parametrize("budget", [9, 9.0])
def test_a_whole_number_is_the_same_to_everybody(budget: float) -> None:
    """The receiver keeps the terms as the others read them, down to the digest."""
    order, receiver = opened(replace(PROTOCOL, privacy_budget=budget, delta=1e-6))
    assert isinstance(receiver, PPCBReceiver)
    assert receiver._terms == terms_from(order)
    assert receiver._terms.digest == terms_from(order).digest


def test_everybody_talks_to_both_servers_alone() -> None:
    links = FORM.links(FORM.plan(ORDER).seats)
    for seat in SEATS:
        expected = set(SEATS) - {seat} if seat in BOTH else set(BOTH)
        assert set(links[seat]) == expected


def test_who_sits_where() -> None:
    seats = {seat: member.name for seat, member in FORM.seats(members()).items()}
    assert seats == {
        "receiver": "shop",
        "actor": "site",
        "dealer": "bank",
        BOTH[0]: "north",
        BOTH[1]: "south",
        "airline": "airline",
        "hotel": "hotel",
    }
    assert (FORM.opener, FORM.owner_role) == ("receiver", "owner")


@pytest.mark.parametrize(
    ("role", "count"), [*product(SINGLE, (0, 2)), ("server", 1), ("server", 3)]
)
def test_no_role_is_short_or_crowded(role: str, count: int) -> None:
    named = {**members(), role: [Member(f"m{i}") for i in range(count)]}
    wanted = 2 if role == "server" else 1
    with pytest.raises(
        InputError, match=f"needs {wanted} of the role {role}, but {count} are named"
    ):
        FORM.seats(named)


@pytest.mark.parametrize("name", [*SINGLE, *BOTH])
def test_no_owner_is_called_like_another_seat(name: str) -> None:
    with pytest.raises(InputError, match=f"two seats of the run are called {name}"):
        FORM.seats(members({name: 1}))
    terms = msgspec.structs.replace(terms_from(ORDER), owners={name: 3})
    with pytest.raises((InputError, ProtocolError), match=name):
        FORM.plan(terms.to_bytes())


def test_an_owner_without_features_is_told_to_bring_some() -> None:
    with pytest.raises(InputError, match="hotel brings no features: let it set `features` and"):
        opened(named=members({"airline": 2, "hotel": 0}))


@pytest.mark.parametrize(
    ("named", "budget"),
    [(members(arms=1), BUDGET), (members(arms=0), BUDGET), (members(), 0), (members(), 2**62)],
    ids=["one arm", "no arms", "no budget", "too large a budget"],
)
def test_what_cannot_be_ordered(named: Mapping[str, list[Member]], budget: int) -> None:
    with pytest.raises(LotorError, match=r"arm|budget|pulls|steps"):
        opened(named=named, budget=budget)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"policy": "ucb"}, "ppcb does not run the policy ucb"),
        ({"bits": 8}, "bits is 8"),
        ({"bits": "1.5"}, "bits takes a whole number, not '1.5'"),
        ({"delay": -1}, "delay is -1"),
        ({"epsilon": "much"}, "epsilon takes a number, not 'much'"),
        ({"owners": 3}, "cannot set owners"),
        ({"form": "two"}, "ppcb has no form 'two': choose shared or dealt or paper"),
        (
            {"policy": "linear-epsilon-greedy:epsilon=0.1", "epsilon": "0.2"},
            "epsilon is given twice",
        ),
    ],
    ids=str,
)
def test_options_that_no_order_may_have(options: Mapping[str, str | int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.PPCB.ordered(options)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "ucb"},
        {"policy": "nope"},
        {"bits": 8},
        {"bits": 60},
        {"arms": 1},
        {"budget": 0},
        {"delay": -1},
        {"delta": 2.0},
        {"delta": 0.9999999999999999},
        {"privacy_budget": 1e-9},
        {"owners": {}},
        {"owners": {"airline": 0}},
        {"low": 2.0},
    ],
    ids=str,
)
def test_an_order_that_no_run_can_fulfil_is_refused(change: Mapping[str, object]) -> None:
    terms: PPCBTerms = msgspec.structs.replace(terms_from(ORDER), **change)
    with pytest.raises((InputError, ProtocolError)):
        FORM.plan(terms.to_bytes())


@given(st.binary(max_size=80))
def test_what_is_no_order_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        FORM.plan(data)


KINDS: dict[str, type[Party]] = {
    "actor": PPCBActor,
    "dealer": PPCBDealer,
    **dict.fromkeys(BOTH, PPCBServer),
    **dict.fromkeys(OWNERS, PPCBOwner),
}


@pytest.mark.parametrize("seat", KINDS)
def test_parties_are_rebuilt_from_their_own_snapshot(seat: str) -> None:
    party = FORM.party(place(seat))
    assert type(party) is KINDS[seat]
    snapshot = first_snapshot(party)
    assert first_snapshot(FORM.party(place(seat), snapshot)) == snapshot


def test_the_receiver_is_made_by_its_order() -> None:
    snapshot = first_snapshot(RECEIVER)
    rebuilt = FORM.party(place("receiver"), snapshot)
    assert isinstance(rebuilt, PPCBReceiver)
    assert first_snapshot(rebuilt) == snapshot
    with pytest.raises(InputError, match="made when it orders"):
        FORM.party(place("receiver"))


def test_nobody_is_rebuilt_from_anothers_snapshot() -> None:
    snapshot = first_snapshot(FORM.party(place("airline")))
    for seat in set(SEATS) - {"airline"}:
        with pytest.raises((InputError, FormatError), match="snapshot"):
            FORM.party(place(seat), snapshot)


@pytest.mark.parametrize(
    ("seat", "thing"), [("receiver", PULL), ("actor", ACT), *((name, FEATURES) for name in OWNERS)]
)
def test_a_party_without_its_function_is_told_to_set_it(seat: str, thing: str) -> None:
    with pytest.raises(InputError, match=f"{seat} has no function .*set `{thing}` under"):
        FORM.party(place(seat, brings=frozenset({PULL, ACT, FEATURES} - {thing})))


@pytest.mark.parametrize("seat", ["dealer", *BOTH])
def test_servers_and_dealer_bring_nothing(seat: str) -> None:
    FORM.party(place(seat, brings=frozenset()))


def test_what_a_party_has_must_be_what_was_ordered() -> None:
    with pytest.raises(InputError, match="the actor has 3 arms, and the order counts on 4"):
        FORM.party(place("actor", contribution=Contribution(arms=3)))
    with pytest.raises(InputError, match="hotel brings 2 features, and the order counts on 1"):
        FORM.party(place("hotel", contribution=Contribution(features=2)))


def test_a_trial_draws_as_plain_does_and_nothing_else_is_foreseen() -> None:
    for number, seat in enumerate(BOTH):
        expected = draw_key(7, SERVERS[number])
        assert expected in first_snapshot(FORM.party(place(seat, seed=7)))
        drawn = first_snapshot(FORM.party(place(seat)))
        assert expected not in drawn
        assert drawn != first_snapshot(FORM.party(place(seat)))


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_simulation_splits_the_features_evenly(owners: int, d: int) -> None:
    arms = some_arms(1, rounds=5, k=3, d=d)
    run = Run("aa", 3, 5, RewardScale(-2, 3), 1, arms, 1)
    protocol = lotor.PPCB(owners=owners, form="dealt")
    if owners > d:
        with pytest.raises(InputError, match=f"{d} features cannot be split among {owners}"):
            FORM.simulated(protocol, run)
        return
    named = FORM.simulated(protocol, run)
    counts = [member.contribution.features for member in named["owner"]]
    assert len(counts) == owners
    assert sum(counts) == d
    assert max(counts) - min(counts) <= 1
    assert terms_from(FORM.open(protocol, "aa", named, 5, identities()["receiver"])[0]).arms == 3


def test_the_cast_fills_every_role() -> None:
    cast = FORM.cast(PROTOCOL, 10, 0, None)
    roles = [member.role for member in cast.members.values()]
    assert sorted(roles) == sorted([*SINGLE, "server", "server", *["owner"] * len(FIRMS)])
    assert cast.pullers == ("actor",)
    with pytest.raises(InputError, match="three firms"):
        FORM.cast(PROTOCOL, 10, 0, 4)


def test_the_firms_of_a_demonstration_have_each_a_part_of_every_context() -> None:
    arms = some_arms(1, rounds=6, k=3, d=3)
    cast = feature_parties(arms, {"airline": 2, "hotel": 1})
    tables = []
    for name in ("airline", "hotel"):
        text = cast.members[name].files["table.json"]
        assert isinstance(text, str)
        tables.append(json.loads(text))
    joined = [first + second for first, second in zip(*tables, strict=True)]
    assert joined == arms.contexts.tolist()
    with pytest.raises(InputError, match="do not add up to the 3 features"):
        feature_parties(arms, {"airline": 2})

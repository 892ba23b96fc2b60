"""SAMBA's form: who sits where, what can be ordered, and parties built from an order."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity, trusting_identities
from lotor.policies import to_text
from lotor.protocols.form import PULL, Assignment, Contribution, Member
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.samba.cast import HOSPITALS
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.form import SambaPaper
from lotor.protocols.samba.paper.owner import SambaPaperOwner, SambaPaperOwnerMemory
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.terms import terms_from
from lotor.runtime.durable.host import first_snapshot

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

FORM = SambaPaper()
SERVERS = ("customer", "controller", "comp")
OWNERS = {"lyon": 2, "porto": 1, "graz": 3}
SAMBA = lotor.Samba(lotor.Softmax(0.02), form="paper", selection="position", key_bits=2048)
BUDGET = 30


def members(owners: Mapping[str, int] = OWNERS) -> dict[str, list[Member]]:
    servers = {role: [Member(f"the-{role}")] for role in SERVERS}
    return {**servers, "owner": [Member(name, Contribution(k)) for name, k in owners.items()]}


@cache
def identities() -> Mapping[str, Identity]:
    return trusting_identities([*SERVERS, *OWNERS])


@cache
def ordered() -> tuple[bytes, Party]:
    return FORM.open(SAMBA, "aa", members(), BUDGET, identities()["customer"])


def place(seat: str, **more: object) -> Assignment:
    made = Assignment(
        "aa",
        seat,
        ordered()[0],
        identities()[seat],
        contribution=Contribution(OWNERS.get(seat, 0)),
        brings=frozenset({PULL}),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_order_says_what_was_asked_for() -> None:
    order, customer = ordered()
    assert isinstance(customer, SambaPaperCustomer)
    terms = terms_from(SambaPaperTerms, order)
    assert (terms.run, terms.budget, terms.owners) == ("aa", BUDGET, OWNERS)
    assert (terms.policy, terms.selection) == (to_text(SAMBA.policy), "position")
    plan = FORM.plan(order)
    assert (plan.policy, plan.budget, plan.k, plan.owners) == ("softmax:tau=0.02", BUDGET, 6, 3)
    assert (plan.privacy, plan.account) == (None, None)
    assert plan.seats == {**{seat: seat for seat in SERVERS}, **dict.fromkeys(OWNERS, "owner")}


def test_everybody_talks_to_controller_alone() -> None:
    links = FORM.links(FORM.plan(ordered()[0]).seats)
    assert set(links["controller"]) == {"customer", "comp", *OWNERS}
    assert all(links[seat] == ("controller",) for seat in links if seat != "controller")


def test_owners_sit_under_their_own_names_and_servers_under_their_roles() -> None:
    seats = FORM.seats(members())
    assert {seat: member.name for seat, member in seats.items()} == {
        **{role: f"the-{role}" for role in SERVERS},
        **{name: name for name in OWNERS},
    }
    assert FORM.opener == "customer"
    assert FORM.owner_role == "owner"


@pytest.mark.parametrize("role", SERVERS)
@pytest.mark.parametrize("count", [0, 2])
def test_each_server_is_there_once(role: str, count: int) -> None:
    named = {**members(), role: [Member(f"m{i}") for i in range(count)]}
    with pytest.raises(InputError, match=f"needs 1 of the role {role}, but {count} are named"):
        FORM.seats(named)


def test_a_run_needs_owners() -> None:
    with pytest.raises(InputError, match=r"needs parties of the role owner.*\[members\]"):
        FORM.seats({**members(), "owner": []})


@pytest.mark.parametrize("name", SERVERS)
def test_no_owner_is_called_like_a_server(name: str) -> None:
    with pytest.raises(InputError, match=f"two seats of the run are called {name}"):
        FORM.seats(members({name: 1, "porto": 1}))
    terms = msgspec.structs.replace(terms_from(SambaPaperTerms, ordered()[0]), owners={name: 6})
    with pytest.raises(ProtocolError, match=f"the owner {name} has the name of another seat"):
        FORM.plan(terms.to_bytes())


def test_owners_agree_on_the_range_of_rewards() -> None:
    named = members()
    named["owner"][1] = Member("porto", Contribution(1, low=-1.0, high=1.0))
    identity = identities()["customer"]
    with pytest.raises(InputError, match=r"porto has rewards from -1.0 to 1.0, and lyon from 0.0"):
        FORM.open(SAMBA, "aa", named, BUDGET, identity)
    wide = [Member(name, Contribution(k, -1.0, 1.0)) for name, k in OWNERS.items()]
    order, _ = FORM.open(SAMBA, "aa", {**members(), "owner": wide}, BUDGET, identity)
    assert terms_from(SambaPaperTerms, order).scale == RewardScale(-1.0, 1.0)


@pytest.mark.parametrize(
    ("owners", "budget"), [({"lyon": 0, "porto": 2}, 20), (OWNERS, 5), (OWNERS, 2**62)]
)
def test_what_cannot_be_ordered(owners: Mapping[str, int], budget: int) -> None:
    with pytest.raises(InputError, match=f"{budget} pulls of .* which no run can do"):
        FORM.open(SAMBA, "aa", members(owners), budget, identities()["customer"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"policy": "linucb"}, "which is for linucb-ds"),
        ({"policy": "nope"}, "no policy is called 'nope'"),
        ({"policy": "mine:Greedy"}, "no package offers the policy mine:Greedy"),
        ({"selection": "guess"}, "'bits' or 'position'"),
        ({"key_bits": 512}, "2048"),
        ({"key_bits": "many"}, "key_bits takes a whole number, not 'many'"),
        ({"owners": 2}, "cannot set owners"),
        ({"insecure_key_bits": 256}, "cannot set insecure_key_bits"),
        ({"form": "novel"}, "samba has no form 'novel': choose paper"),
    ],
    ids=str,
)
def test_options_that_no_order_may_have(options: Mapping[str, str | int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.Samba.ordered(options)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "linucb"},
        {"policy": "nope"},
        {"policy": "mine:Greedy"},
        {"iterations": 2},
        {"selection": "guess"},
        {"budget": 5},
        {"budget": 2**62},
        {"owners": {}},
        {"owners": {"lyon": 0, "porto": 6}},
    ],
    ids=str,
)
def test_an_order_that_no_run_can_fulfil_is_refused(change: Mapping[str, object]) -> None:
    terms: SambaPaperTerms = msgspec.structs.replace(
        terms_from(SambaPaperTerms, ordered()[0]), **change
    )
    with pytest.raises(ProtocolError, match="customer"):
        FORM.plan(terms.to_bytes())


@given(st.binary(max_size=80))
def test_what_is_no_order_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        FORM.plan(data)


@pytest.mark.parametrize(
    ("seat", "kind"),
    [
        ("controller", SambaPaperController),
        ("comp", SambaPaperComp),
        *((name, SambaPaperOwner) for name in OWNERS),
    ],
)
def test_parties_are_rebuilt_from_their_own_snapshot(seat: str, kind: type[Party]) -> None:
    party = FORM.party(place(seat))
    assert type(party) is kind
    snapshot = first_snapshot(party)
    rebuilt = FORM.party(place(seat), snapshot)
    assert type(rebuilt) is kind
    assert first_snapshot(rebuilt) == snapshot


def test_the_customer_is_made_by_its_order() -> None:
    snapshot = first_snapshot(ordered()[1])
    rebuilt = FORM.party(place("customer"), snapshot)
    assert isinstance(rebuilt, SambaPaperCustomer)
    assert first_snapshot(rebuilt) == snapshot
    with pytest.raises(InputError, match="made when it orders"):
        FORM.party(place("customer"))


def test_nobody_is_rebuilt_from_anothers_snapshot() -> None:
    snapshot = first_snapshot(FORM.party(place("lyon")))
    for seat in ("porto", "comp", "controller", "customer"):
        with pytest.raises((InputError, FormatError), match="snapshot"):
            FORM.party(place(seat), snapshot)


def test_an_owner_needs_a_function_that_answers_pulls() -> None:
    with pytest.raises(InputError, match=r"lyon has no function that answers pulls.*`pull`"):
        FORM.party(place("lyon", brings=frozenset()))
    for seat in ("controller", "comp"):
        FORM.party(place(seat, brings=frozenset()))


def test_a_trial_draws_as_plain_does_and_nothing_else_is_foreseen() -> None:
    def memory(**more: object) -> SambaPaperOwnerMemory:
        snapshot = first_snapshot(FORM.party(place("lyon", **more)))
        return msgspec.msgpack.decode(snapshot, type=SambaPaperOwnerMemory)

    trial, again = memory(seed=5), memory(seed=5)
    assert trial.own_key == again.own_key == draw_key(5, "owner")
    one, other = memory(), memory()
    assert one.own_key != other.own_key


@given(st.integers(1, 8), st.integers(1, 8))
def test_a_simulation_spreads_the_arms_evenly(owners: int, k: int) -> None:
    samba = lotor.Samba(owners=owners)
    run = Run("aa", k, 50, RewardScale(-2, 3), 1)
    if owners > k:
        with pytest.raises(InputError, match=f"{owners} owners cannot share {k} arms?:"):
            FORM.simulated(samba, run)
        return
    seated = FORM.seats(FORM.simulated(samba, run))
    held = [seated[f"owner-{number}"].contribution for number in range(1, owners + 1)]
    assert sum(one.arms for one in held) == k
    assert max(one.arms for one in held) - min(one.arms for one in held) <= 1
    assert {(one.low, one.high) for one in held} == {(-2.0, 3.0)}


@pytest.mark.parametrize("size", [0, 1, len(HOSPITALS) + 1])
def test_a_demonstration_has_some_hospitals(size: int) -> None:
    with pytest.raises(InputError, match=f"2 to 20 hospitals, not {size}"):
        FORM.cast(SAMBA, 10, 0, size)


@pytest.mark.parametrize("size", [None, 2, 5])
def test_the_cast_fills_every_role(size: int | None) -> None:
    cast = FORM.cast(SAMBA, 10, 0, size)
    count = size or 3
    assert len(cast.pullers) == count == cast.environment.k
    roles = [member.role for member in cast.members.values()]
    assert sorted(roles) == sorted([*SERVERS, *["owner"] * count])
    assert all(cast.members[name].table is not None for name in cast.pullers)

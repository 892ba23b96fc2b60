"""The dealt form: who sits where, what can be ordered, and parties built from an order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import msgspec
import pytest

import lotor
from lotor.core.draws import Draws
from lotor.core.errors import FormatError, InputError, PolicyError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.signing import Identity, trusting_identities
from lotor.policies import ArmStates, Policy
from lotor.protocols.form import PULL, Assignment, Contribution, Member
from lotor.protocols.party import Party, draw_key
from lotor.protocols.samba.dealt.comp import SambaDealtComp
from lotor.protocols.samba.dealt.controller import SambaDealtController
from lotor.protocols.samba.dealt.customer import SambaDealtCustomer
from lotor.protocols.samba.dealt.dealer import SambaDealtDealer
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.dealt.server import SambaDealtServerMemory
from lotor.protocols.samba.dealt.terms import MOST_ARMS, SambaDealtTerms
from lotor.protocols.samba.terms import terms_from
from lotor.runtime.durable.host import first_snapshot
from protocols.samba.dealt.stage import FORM, dealt

SERVERS = ("customer", "controller", "comp", "dealer")
OWNERS = {"lyon": 2, "porto": 1, "graz": 3}
SAMBA = dealt(lotor.Pursuit(0.2))
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
    assert isinstance(customer, SambaDealtCustomer)
    plan = FORM.plan(order)
    assert (plan.policy, plan.budget, plan.k, plan.owners) == ("pursuit:beta=0.2", BUDGET, 6, 3)
    assert plan.seats == {**{seat: seat for seat in SERVERS}, **dict.fromkeys(OWNERS, "owner")}


def test_everybody_talks_to_both_servers_alone() -> None:
    links = FORM.links(FORM.plan(ordered()[0]).seats)
    assert set(links["controller"]) == {"customer", "comp", "dealer", *OWNERS}
    assert set(links["comp"]) == {"customer", "controller", "dealer", *OWNERS}
    for seat in ("customer", "dealer", *OWNERS):
        assert set(links[seat]) == {"controller", "comp"}


def test_turns_are_counted_through_rounds_and_iterations() -> None:
    terms = terms_from(SambaDealtTerms, ordered()[0])
    places = [(t, l) for t in range(terms.k + 1, BUDGET + 1) for l in (1, 2)]
    assert [terms.turn(t, l) for t, l in places] == list(range(1, terms.turns + 1))
    assert terms.end == terms.turns + 1


@pytest.mark.parametrize(
    ("seat", "kind"),
    [
        ("controller", SambaDealtController),
        ("comp", SambaDealtComp),
        ("dealer", SambaDealtDealer),
        *((name, SambaDealtOwner) for name in OWNERS),
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
    assert isinstance(rebuilt, SambaDealtCustomer)
    assert first_snapshot(rebuilt) == snapshot
    with pytest.raises(InputError, match="made when it orders"):
        FORM.party(place("customer"))


def test_nobody_is_rebuilt_from_anothers_snapshot() -> None:
    snapshot = first_snapshot(FORM.party(place("lyon")))
    for seat in ("porto", *SERVERS):
        with pytest.raises((InputError, FormatError), match="snapshot"):
            FORM.party(place(seat), snapshot)
    comp = first_snapshot(FORM.party(place("comp")))
    with pytest.raises(InputError, match="this snapshot is of comp"):
        FORM.party(place("controller"), comp)


def test_a_trial_breaks_ties_as_plain_does_and_nothing_else_is_foreseen() -> None:
    def tie_key(**more: object) -> bytes:
        snapshot = first_snapshot(FORM.party(place("controller", **more)))
        return msgspec.msgpack.decode(snapshot, type=SambaDealtServerMemory).tie_key

    assert tie_key(seed=5) == draw_key(5, "owner")
    assert tie_key() != tie_key()


def test_a_snapshot_shows_no_key() -> None:
    for seat in (*SERVERS[1:], "lyon"):
        party = FORM.party(place(seat))
        assert "key" not in repr(party._memory)  # type: ignore[attr-defined]


def test_more_arms_than_a_message_can_serve_are_refused() -> None:
    named = members({"lyon": MOST_ARMS + 1})
    with pytest.raises(InputError, match="does not fit in a message: order it with fewer arms"):
        FORM.open(SAMBA, "aa", named, 10**6, identities()["customer"])


def test_an_order_of_another_run_is_refused() -> None:
    for seat in SERVERS[1:]:
        with pytest.raises(ProtocolError, match="start it again with what was ordered"):
            FORM.party(place(seat, run="bb"))


@pytest.mark.parametrize(
    "options", [{"key_bits": 2048}, {"insecure_key_bits": 256}, {"selection": "position"}], ids=str
)
def test_options_of_the_papers_form_are_refused(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(InputError, match=f"^{name} is an option of the paper's form.*form='paper'"):
        lotor.Samba(form="dealt", **options)  # type: ignore[arg-type]


def test_its_options_are_recorded_without_the_papers() -> None:
    assert SAMBA.options() == {"policy": "pursuit:beta=0.2", "owners": 1, "form": "dealt"}
    assert set(lotor.Samba(form="paper").options()) - set(SAMBA.options()) == {
        "key_bits",
        "selection",
    }
    assert lotor.Samba.ordered(SAMBA.order_options()) == SAMBA


@dataclass(frozen=True, slots=True)
class SecondBest(Policy):
    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        return values.index(sorted(values)[-min(2, len(values))])


def test_a_policy_with_a_select_of_its_own_needs_the_papers_form() -> None:
    lotor.Samba(SecondBest(), form="paper")
    with pytest.raises(PolicyError, match=r"has a `select` of its own.*choose form='paper'"):
        lotor.Samba(SecondBest(), form="dealt")


def test_the_cast_fills_every_role() -> None:
    cast = FORM.cast(SAMBA, 10, 0, None)
    roles = [member.role for member in cast.members.values()]
    assert sorted(roles) == sorted([*SERVERS, *["owner"] * 3])
    assert cast.members["controller"].draws

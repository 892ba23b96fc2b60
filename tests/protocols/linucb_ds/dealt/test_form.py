"""The dealt form: who sits where, what can be ordered, and parties built from an order."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import msgspec
import pytest

import lotor
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.crypto.signing import Identity, trusting_identities
from lotor.protocols.form import MODEL, Assignment, Member
from lotor.protocols.linear_draws import PURPOSES
from lotor.protocols.linucb_ds.dealt.comp import LinUCBDealtComp
from lotor.protocols.linucb_ds.dealt.customer import LinUCBDealtCustomer
from lotor.protocols.linucb_ds.dealt.dealer import LinUCBDealer
from lotor.protocols.linucb_ds.dealt.principal import (
    LinUCBDealtPrincipal,
    LinUCBDealtPrincipalMemory,
)
from lotor.protocols.linucb_ds.dealt.terms import MOST_ARMS, MOST_WORDS, LinUCBDealtTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.owner import ThetaOwner
from lotor.protocols.party import Party, draw_key
from lotor.runtime.durable.host import first_snapshot
from protocols.linucb_ds.dealt.stage import ARMS, FORM, SPECTRAL, dealt

SEATS = ("customer", "owner", "principal", "comp", "dealer")
KINDS: dict[str, type[Party]] = {
    "owner": ThetaOwner,
    "principal": LinUCBDealtPrincipal,
    "comp": LinUCBDealtComp,
    "dealer": LinUCBDealer,
}


@cache
def identities() -> Mapping[str, Identity]:
    return trusting_identities(list(SEATS))


@cache
def ordered() -> tuple[bytes, Party]:
    members = {seat: [Member(f"the-{seat}")] for seat in SEATS}
    return FORM.open(dealt(), "aa", members, 20, identities()["customer"])


def place(seat: str, **more: object) -> Assignment:
    brings, data = (frozenset({MODEL}), ARMS) if seat == "owner" else (frozenset(), None)
    made = Assignment("aa", seat, ordered()[0], identities()[seat], brings=brings, data=data)
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_order_says_what_was_asked_for() -> None:
    plan = FORM.plan(ordered()[0])
    assert (plan.policy.split(":")[0], plan.budget, plan.k) == ("linucb", 20, None)
    assert plan.seats == {seat: seat for seat in SEATS}
    with pytest.raises(ProtocolError, match="which spectral-ucb-ds cannot run"):
        SPECTRAL.plan(ordered()[0])


def test_everybody_talks_to_p_and_comp_alone() -> None:
    links = FORM.links(FORM.plan(ordered()[0]).seats)
    assert set(links["principal"]) == set(SEATS) - {"principal"}
    assert set(links["comp"]) == set(SEATS) - {"comp"}
    for seat in ("customer", "owner", "dealer"):
        assert set(links[seat]) == {"principal", "comp"}


@pytest.mark.parametrize("seat", KINDS)
def test_parties_are_rebuilt_from_their_own_snapshot(seat: str) -> None:
    party = FORM.party(place(seat))
    assert type(party) is KINDS[seat]
    snapshot = first_snapshot(party)
    rebuilt = FORM.party(place(seat), snapshot)
    assert type(rebuilt) is KINDS[seat]
    assert first_snapshot(rebuilt) == snapshot
    others = set(SEATS) - {seat}
    for other in others:
        with pytest.raises((InputError, FormatError), match="snapshot"):
            FORM.party(place(other), snapshot)


def test_the_customer_is_made_by_its_order() -> None:
    snapshot = first_snapshot(ordered()[1])
    rebuilt = FORM.party(place("customer"), snapshot)
    assert isinstance(rebuilt, LinUCBDealtCustomer)
    assert first_snapshot(rebuilt) == snapshot


def test_a_trial_draws_as_plain_does_and_nothing_else_is_foreseen() -> None:
    def keys(**more: object) -> dict[str, bytes]:
        snapshot = first_snapshot(FORM.party(place("principal", **more)))
        return msgspec.msgpack.decode(snapshot, type=LinUCBDealtPrincipalMemory).keys

    assert keys(seed=5) == {purpose: draw_key(5, purpose) for purpose in PURPOSES}
    assert not set(keys().values()) & set(keys().values())


def test_a_memory_shows_no_key() -> None:
    for seat in KINDS:
        assert "key" not in repr(FORM.party(place(seat))._memory)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "options",
    [{"key_bits": 2048}, {"insecure_key_bits": 256}, {"slot_bits": 96}, {"workers": 2}],
    ids=str,
)
def test_options_of_the_papers_form_are_refused(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(InputError, match=f"^{name} is an option of the paper's form.*form='paper'"):
        lotor.LinUCBDS(form="dealt", **options)  # type: ignore[arg-type]


def test_its_options_are_recorded_without_the_papers() -> None:
    assert set(dealt().options()) == {"policy", "form"}
    papers = {"key_bits", "slot_bits", "workers"}
    assert set(lotor.LinUCBDS(form="paper").options()) - set(dealt().options()) == papers
    assert lotor.LinUCBDS.ordered(dealt().order_options()) == dealt()
    assert dealt().plain().options()["slot_bits"] == 62


@pytest.mark.parametrize(("k", "d"), [(MOST_ARMS + 1, 1), (2, MOST_WORDS // 6), (MOST_ARMS, 120)])
def test_more_than_a_message_can_serve_is_refused(k: int, d: int) -> None:
    with pytest.raises(InputError, match=r"do not fit in the messages .* fewer arms or dimensions"):
        FORM.check_size(k, d)


def test_an_owner_with_too_many_arms_takes_no_part() -> None:
    arms = lotor.LinearArms([[1.0]] * (MOST_ARMS + 1), [0.5])
    with pytest.raises(InputError, match="do not fit in the messages"):
        FORM.party(place("owner", data=arms))
    with pytest.raises(InputError, match="do not fit in the messages"):
        lotor.run(dealt(), arms, budget=2, seed=1)


@pytest.mark.parametrize(
    "change",
    [{"slot_bits": 64}, {"slot_bits": 59}, {"budget": 1}, {"run": "bb"}, {"policy": "ucb"}],
    ids=str,
)
def test_terms_that_cannot_be_kept_are_refused(change: dict[str, object]) -> None:
    real = terms_from(LinUCBDealtTerms, ordered()[0])
    forged: LinUCBDealtTerms = msgspec.structs.replace(real, **change)
    with pytest.raises(ProtocolError, match="customer ordered"):
        FORM.party(place("comp", order=forged.to_bytes()))


def test_digests_differ_with_terms_and_sizes() -> None:
    real = terms_from(LinUCBDealtTerms, ordered()[0])
    other: LinUCBDealtTerms = msgspec.structs.replace(real, budget=21)
    digests = [terms.digest(k, d) for terms in (real, other) for k in (2, 3) for d in (1, 2)]
    assert len(set(digests)) == len(digests)


def test_the_cast_fills_every_role() -> None:
    cast = FORM.cast(dealt(), 10, 0, None)
    assert sorted(member.role for member in cast.members.values()) == sorted(SEATS)
    assert cast.members["principal"].draws
    assert "in two shares" in cast.story

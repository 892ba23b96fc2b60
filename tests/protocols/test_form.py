"""What every form has in common, and what holds for each form of each registered protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError, LotorError, ProtocolError
from lotor.core.options import Option, options_of
from lotor.crypto.signing import Identity, trusting_identities
from lotor.environments.base import Environment
from lotor.policies import POLICIES, AnyPolicy, to_text
from lotor.protocols.cast import Cast
from lotor.protocols.earlier import Earlier
from lotor.protocols.form import (
    ACT,
    FEATURES,
    MODEL,
    PULL,
    AnyForm,
    Assignment,
    Member,
    Role,
    RunPlan,
)
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.protocol import PAPER_LIVE
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import (
    PROTOCOLS,
    OptionValue,
    SecureProtocol,
    all_forms,
    roles_that_bring,
)
from lotor.protocols.report import Counts

FORMS = {f"{name}-{form}": (name, form) for name in PROTOCOLS for form in PROTOCOLS[name].forms}


class Bakery(AnyForm):
    """A form of no protocol: two ovens that everybody talks to, and bakers with their own names."""

    name: ClassVar[str] = "bakery"
    wire: ClassVar[str] = "bakery/1"
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("mill"),
        Role("oven", ("oven-0", "oven-1")),
        Role("baker", brings=(PULL, MODEL)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("oven-0", "oven-1")
    apart: ClassVar[str] = "the ovens"
    leakage: ClassVar[Mapping[str, Finding]] = {}

    def simulated(self, protocol: SecureProtocol, run: Run) -> Mapping[str, Sequence[Member]]:
        raise NotImplementedError

    def open(
        self,
        protocol: SecureProtocol,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        raise NotImplementedError

    def plan(self, order: bytes) -> RunPlan:
        raise NotImplementedError

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        raise Built(assignment.seat)

    def cast(self, protocol: SecureProtocol, budget: int, seed: int, size: int | None) -> Cast:
        raise NotImplementedError

    def complexity(self, protocol: SecureProtocol, environment: Environment, budget: int) -> Counts:
        return {"expected": {"loaves_baked": 12_345, "note": "warm"}}


class Built(LotorError):  # noqa: N818  a sign, not an error
    """That a party would now be built."""


BAKERY = Bakery()
BAKERS = ("ada", "bo")


def members(**changes: Sequence[str]) -> dict[str, list[Member]]:
    named = {"mill": ("big-mill",), "oven": ("north", "south"), "baker": BAKERS, **changes}
    return {role: [Member(name) for name in names] for role, names in named.items()}


# -- seats, roles and links ------------------------------------------------------------------------


def test_fixed_seats_are_filled_in_their_order_and_others_sit_under_their_names() -> None:
    assert {seat: member.name for seat, member in BAKERY.seats(members()).items()} == {
        "mill": "big-mill",
        "oven-0": "north",
        "oven-1": "south",
        "ada": "ada",
        "bo": "bo",
    }


def test_each_seat_has_its_role() -> None:
    roles = {seat: BAKERY.role(seat).name for seat in BAKERY.seats(members())}
    assert roles == {
        "mill": "mill",
        "oven-0": "oven",
        "oven-1": "oven",
        "ada": "baker",
        "bo": "baker",
    }
    assert BAKERY.seats_of({"baker": BAKERS}) == roles
    assert (BAKERY.opener, BAKERY.owner_role) == ("mill", "baker")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"mill": ()}, "a run needs 1 of the role mill, but 0 are named: correct"),
        ({"mill": ("a", "b")}, "a run needs 1 of the role mill, but 2 are named"),
        ({"oven": ("a",)}, "a run needs 2 of the role oven, but 1 are named"),
        ({"baker": ()}, "needs parties of the role baker, and none are named"),
        (
            {"baker": ("ada", "ada")},
            "two seats of the run are called ada.* give every baker a name",
        ),
        ({"baker": ("mill",)}, "two seats of the run are called mill"),
        ({"baker": ("oven-1", "ada")}, "two seats of the run are called oven-1"),
    ],
    ids=str,
)
def test_too_few_too_many_and_equal_names_are_refused(
    changes: Mapping[str, Sequence[str]], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        BAKERY.seats(members(**changes))


def test_a_missing_role_is_refused_like_an_empty_one() -> None:
    named = members()
    del named["baker"]
    with pytest.raises(InputError, match="none are named"):
        BAKERY.seats(named)


@pytest.mark.parametrize("name", ["mill", "oven-0", "oven-1"])
def test_an_order_that_names_a_baker_like_another_seat_is_refused(name: str) -> None:
    with pytest.raises(
        ProtocolError, match=f"the mill ordered .* the baker {name} has the name of another seat"
    ):
        BAKERY.seats_of({"baker": ("ada", name)})


def test_hubs_talk_to_all_and_others_to_hubs() -> None:
    links = BAKERY.links(BAKERY.seats_of({"baker": BAKERS}))
    assert set(links["oven-0"]) == {"mill", "oven-1", "ada", "bo"}
    assert set(links["oven-1"]) == {"mill", "oven-0", "ada", "bo"}
    assert links["mill"] == links["ada"] == links["bo"] == ("oven-0", "oven-1")


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=6, unique=True))
def test_links_go_both_ways(bakers: list[str]) -> None:
    links = BAKERY.links(BAKERY.seats_of({"baker": bakers}))
    for seat, others in links.items():
        assert seat not in others
        assert all(seat in links[other] for other in others)


# -- what a party brings ---------------------------------------------------------------------------


def assignment(seat: str, *brings: str) -> Assignment:
    identity = trusting_identities([seat])[seat]
    return Assignment("aa", seat, b"order", identity, brings=frozenset(brings))


@pytest.mark.parametrize(
    ("has", "thing", "words"),
    [
        ((), PULL, "function that answers pulls"),
        ((MODEL,), PULL, "function that answers pulls"),
        ((PULL, ACT, FEATURES), MODEL, "model of its arms"),
    ],
)
def test_a_party_without_what_its_role_brings_is_told_to_set_it(
    has: tuple[str, ...], thing: str, words: str
) -> None:
    with pytest.raises(InputError, match=rf"ada has no {words}.*set `{thing}` under \[owner\]"):
        BAKERY.party(assignment("ada", *has))


def test_what_is_complete_is_built() -> None:
    for seat, *brings in (("ada", PULL, MODEL), ("oven-1",)):
        with pytest.raises(Built, match=seat):
            BAKERY.party(assignment(seat, *brings))


def test_the_opener_is_built_again_only_from_its_snapshot() -> None:
    with pytest.raises(InputError, match="the party of the mill is made when it orders a run"):
        BAKERY.party(assignment("mill"))
    with pytest.raises(Built, match="mill"):
        BAKERY.party(assignment("mill"), b"snapshot")


def test_an_assignment_shows_neither_order_nor_seed_nor_data() -> None:
    shown = repr(replace(assignment("ada"), seed=987654321, data="private", order=b"ordered"))
    assert not any(secret in shown for secret in ("987654321", "private", "ordered"))


def test_a_forecast_counts_what_must_be_counted() -> None:
    forecast = BAKERY.forecast(lotor.Samba(), lotor.BernoulliArms([0.1, 0.2]), 7)
    assert forecast.rows == {"loaves baked": "12,345", "note": "warm"}
    assert "7 rounds, 2 arms" in forecast.title
    assert forecast.figures["expected"] == {"loaves_baked": 12_345, "note": "warm"}


# -- every form of every protocol ------------------------------------------------------------------


@pytest.mark.parametrize(("protocol", "name"), FORMS.values(), ids=FORMS)
def test_a_form_describes_itself(protocol: str, name: str) -> None:
    form = PROTOCOLS[protocol].form_called(name)
    assert form.name == name
    seats = [seat for role in form.roles for seat in role.seats]
    assert len(set(seats)) == len(seats)
    assert set(form.hubs) <= set(seats)
    assert form.roles[0].seats == (form.opener,)
    assert sum(1 for role in form.roles if not role.seats) <= 1
    assert {thing for role in form.roles for thing in role.brings} <= {PULL, ACT, FEATURES, MODEL}
    assert set(form.leakage) - {"network"} == {role.name for role in form.roles}
    assert "/" in form.wire
    assert form.apart
    assert form.owner_role in {None, *(role.name for role in form.roles)}


def test_all_forms_are_listed_with_the_roles_that_bring_something() -> None:
    forms = all_forms(PROTOCOLS)
    assert len(forms) == len(FORMS)
    bringing = {role.name for form in forms for role in form.roles if role.brings}
    assert roles_that_bring(PROTOCOLS) == bringing


def test_forms_of_different_wires_do_not_share_one() -> None:
    """A party never takes another protocol's messages for its own."""
    wires: dict[str, type[AnyForm]] = {}
    for form in all_forms(PROTOCOLS):
        kind = wires.setdefault(form.wire, type(form))
        assert issubclass(type(form), kind) or issubclass(kind, type(form))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_form_that_does_not_exist_is_refused_naming_those_that_do(name: str) -> None:
    kind = PROTOCOLS[name]
    there = " or ".join(kind.forms)
    makers = (
        lambda: kind(form="nope"),  # type: ignore[call-arg]
        lambda: kind.configured(None, {"form": "nope"}),
        lambda: kind.ordered({"form": "nope"}),
        lambda: kind.form_called("nope"),
    )
    for make in makers:
        with pytest.raises(InputError, match=f"{name} has no form 'nope': choose {there}$"):
            make()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_first_form_is_the_default(name: str) -> None:
    kind = PROTOCOLS[name]
    assert kind.default_form() == kind().form == next(iter(kind.forms))
    assert type(kind().in_form()) is type(kind.form_called(kind.default_form()))


def fits(kind: type[SecureProtocol], policy: AnyPolicy) -> bool:
    try:
        kind(policy)  # type: ignore[call-arg]
    except InputError:
        return False
    return True


POLICIES_OF = {
    name: [policy for policy in (one() for one in POLICIES.values()) if fits(kind, policy)]
    for name, kind in PROTOCOLS.items()
}


# Of options whose type alone does not say which values they may have.
VALUES: dict[str, Sequence[OptionValue]] = {
    "key_bits": [2048, 3072, 4096],
    "slot_bits": [64, 96],
    "bits": [16, 20, 24],
    "delay": [0, 3],
    "delta": [1e-6, 0.01, 1 / 300],
    "epsilon": [0.0, 0.1, 1 / 3, 1.0],
    "privacy_budget": [1 / 3, 7.0, 1e9],
    "security": [128, 192, 256],
    "stages": [2, 6],
    "noise_bits": [3, 5],
    "mean_bound": [1 / 3, 2.0],
    "rms_length": [1 / 3, 1.0],
    "context_bits": [8, 10, 24],
    "reward_bits": [1, 8],
    "outstanding": [1, 40],
    "batch": [1, 8],
    "settle": ["90d", "1.5h"],
    "exclude_after": ["7d"],
}


def values_of(kind: type[SecureProtocol], one: Option) -> Sequence[OptionValue]:
    if one.name == "form":
        return list(kind.forms)
    if one.choices:
        return [one.kind(choice) for choice in one.choices]
    if one.kind is bool:
        return [False, True]
    return VALUES.get(one.name, ())


GOES_WITH = {"settle": {"outstanding": 5}}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_there_are_policies_for_it(name: str) -> None:
    assert any(isinstance(one, PROTOCOLS[name].policy_kind()) for one in POLICIES_OF[name])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_order_of_each_policy_gives_the_same_protocol_back(name: str) -> None:
    kind = PROTOCOLS[name]
    for policy in POLICIES_OF[name]:
        protocol = kind(policy)  # type: ignore[call-arg]
        again = kind.ordered(protocol.order_options())
        assert again == protocol
        assert to_text(again.policy) == to_text(policy)


OPTIONS = {
    f"{name}-{one.name}={value}": (name, one, value)
    for name, kind in PROTOCOLS.items()
    for one in options_of(kind)
    for value in values_of(kind, one)
    if one.ordered
}


@pytest.mark.parametrize(("name", "one", "value"), OPTIONS.values(), ids=OPTIONS)
def test_an_order_of_each_option_gives_the_same_protocol_back(
    name: str, one: Option, value: OptionValue
) -> None:
    kind = PROTOCOLS[name]
    # Some options belong to one form only, or to another option.
    besides: dict[str, OptionValue] = dict(GOES_WITH.get(one.name, {}))
    if one.name in getattr(kind, "paper_options", ()):
        besides["form"] = "paper"
    protocol = kind.configured(None, {one.name: value, **besides})
    assert getattr(protocol, one.name) == value
    said = protocol.order_options()
    assert all(isinstance(part, str | int) for part in said.values())
    again = kind.ordered(said)
    assert again == protocol
    assert again.order_options() == said


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_option_of_an_order_is_tried_above(name: str) -> None:
    tried = {one.name for other, one, _ in OPTIONS.values() if other == name}
    assert tried == {one.name for one in options_of(PROTOCOLS[name]) if one.ordered}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_order_cannot_say_what_is_not_ordered(name: str) -> None:
    """Nor weaken its keys, which only a simulation may."""
    kind = PROTOCOLS[name]
    ordered = {one.name for one in options_of(kind) if one.ordered} | {"policy"}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in ordered:
            with pytest.raises(InputError, match=f"an order of {name} cannot set {field.name}"):
                kind.ordered({field.name: 1})


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_unknown_option_is_refused_with_those_there_are(name: str) -> None:
    kind = PROTOCOLS[name]
    with pytest.raises(InputError, match=f"{name} does not take colour: it takes ") as caught:
        kind.configured(None, {"colour": 1})
    assert all(one.name in str(caught.value) for one in kind.all_options())


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_policy_that_fits_no_protocol_of_that_kind_is_refused(name: str) -> None:
    kind = PROTOCOLS[name]
    refused = [
        one for one in POLICIES if not any(type(p) is POLICIES[one] for p in POLICIES_OF[name])
    ]
    assert refused
    for policy in refused:
        with pytest.raises(InputError):
            kind.ordered({"policy": policy})


@pytest.mark.parametrize(("name", "form"), FORMS.values(), ids=FORMS)
def test_a_demonstration_seats_everybody_with_what_they_bring(name: str, form: str) -> None:
    protocol = PROTOCOLS[name].configured(None, {"form": form})
    described = protocol.in_form()
    cast = described.cast(protocol, 5, 0, None)
    named = {
        role.name: [Member(one) for one, member in cast.members.items() if member.role == role.name]
        for role in described.roles
    }
    assert sum(map(len, named.values())) == len(cast.members)
    assert len(described.seats(named)) == len(cast.members)
    for role in described.roles:
        for member in named[role.name]:
            table = cast.members[member.name].table or {}
            assert set(role.brings) <= set(table)
    assert set(cast.pullers) <= set(cast.members)
    assert cast.story


def test_a_protocol_that_cannot_be_loaded_stops_no_other() -> None:
    class Broken(lotor.Samba):
        forms: ClassVar[Mapping[str, str]] = {"paper": "no_such_module:Form"}

    with pytest.warns(UserWarning, match="the protocol broken is left out: the form no_such"):
        found = all_forms({"broken": Broken, "samba": lotor.Samba})
    assert [form.name for form in found] == list(lotor.Samba.forms)


def test_a_fault_in_a_protocol_shows_nothing_of_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> Party:
        raise ValueError("a secret")

    monkeypatch.setattr(type(BAKERY), "build", failing)
    with pytest.raises(InputError, match="failed with ValueError") as caught:
        BAKERY.party(assignment("oven-1"))
    assert "secret" not in str(caught.value)


def test_every_form_says_whether_attacks_succeed_on_it() -> None:
    """Only papers' forms leak, and a form that leaks is never better than another one."""
    for kind in PROTOCOLS.values():
        leaky = {name for name in kind.forms if kind.form_called(name).leaks}
        assert leaky <= {"paper", "paper-live"}
        for name in kind.forms:
            better = kind.better_forms(name)
            assert bool(better) == (name in leaky and leaky < set(kind.forms))
            assert not leaky & set(better)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_can_be_continued_where_its_parties_can_keep_something(form: str) -> None:
    name, which = FORMS[form]
    kind = PROTOCOLS[name]
    one = kind.form_called(which)
    can_keep = any(option.name == "keep" for option in options_of(kind)) and which != PAPER_LIVE
    assert one.continuable == can_keep == bool(one.keeps)
    assert set(one.keeps) <= {role.name for role in one.roles}
    if not one.continuable:
        identity = trusting_identities([one.opener])[one.opener]
        said = f"a run of {name} in the form {which} cannot continue another one: .*start a new one"
        with pytest.raises(InputError, match=said):
            one.reopen(kind, "bb", {}, 5, identity, Earlier("aa", b""))

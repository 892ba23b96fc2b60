"""HELBA's parties apart: who sits where, what is ordered, and what is refused before it begins."""

import msgspec
import pytest

from lotor.core.effects import Checkpoint
from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.signing import trusting_identities
from lotor.protocols.form import Assignment, Contribution, Member
from lotor.protocols.helba.paper.form import HelbaPaper
from lotor.protocols.helba.paper.user import HelbaUser
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.terms import terms_from
from protocols.helba.stage import DEGREE

HELBA = HelbaPaper()
SEATS = tuple(role.name for role in HELBA.roles)
OFFER = Contribution(arms=3, low=-2.0, high=2.0, features=6)
IDENTITIES = trusting_identities(list(SEATS))


def members(offer: Contribution = OFFER) -> dict[str, list[Member]]:
    return {role: [Member(role, offer if role == "user" else Contribution())] for role in SEATS}


def ordered(form: HelbaPaper = HELBA, **options: str | int) -> bytes:
    order, _ = form.open(
        Helba.ordered({"form": "paper", **options}), "aa", members(), 9, IDENTITIES["user"]
    )
    return order


def place(seat: str, order: bytes, brings: frozenset[str]) -> Assignment:
    return Assignment("aa", seat, order, IDENTITIES[seat], OFFER, brings=brings)


def test_an_order_says_what_was_asked_for() -> None:
    order = ordered(policy="batched-oful:eta=0.5,L=3", stages=3, mean_bound="0.5")
    terms, plan = terms_from(order), HELBA.plan(order)
    assert (terms.arms, terms.d, terms.budget, terms.low, terms.high) == (3, 2, 9, -2.0, 2.0)
    assert (terms.stages, terms.mean_bound, terms.rms_length) == (3, 0.5, 3.0)
    assert (plan.k, plan.budget, set(plan.seats)) == (3, 9, set(SEATS))
    assert HELBA.links(plan.seats)["server"] == ("user", "key-authority")


@pytest.mark.parametrize("role", SEATS)
@pytest.mark.parametrize("count", [0, 2])
def test_one_of_each_role(role: str, count: int) -> None:
    wrong = {**members(), role: members()[role] * count}
    with pytest.raises(InputError, match=f"needs 1 of the role {role}, but {count} are named"):
        HELBA.seats(wrong)


@pytest.mark.parametrize(
    "offer",
    [
        Contribution(),
        Contribution(arms=2),
        Contribution(arms=1, features=3),
        Contribution(arms=3, features=7),
    ],
)
def test_what_a_user_must_bring(offer: Contribution) -> None:
    with pytest.raises(InputError, match="let it set `arms`"):
        HELBA.open(Helba(form="paper"), "aa", members(offer), 9, IDENTITIES["user"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"nothing": 1}, "cannot set nothing"),
        ({"workers": 2}, "cannot set workers"),
        ({"insecure_degree": 1024}, "cannot set insecure_degree"),
        ({"stages": "four"}, "stages takes a whole number, not 'four'"),
        ({"mean_bound": "much"}, "mean_bound takes a number, not 'much'"),
        ({"policy": "oful"}, "takes BatchedOFUL"),
        ({"stages": 6}, "too coarse: take "),
    ],
)
def test_options_that_cannot_be_run(options: dict[str, str | int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ordered(HELBA, **options)


def test_no_daemon_takes_part_in_a_run_that_can_be_broken() -> None:
    weak = HelbaPaper(insecure_degree=DEGREE)
    order = ordered(weak)
    assert weak.plan(order).budget == 9
    for form, asked in ((HELBA, order), (weak, ordered())):
        with pytest.raises(ProtocolError, match="user ordered a ring of degree"):
            form.plan(asked)


def test_an_order_that_no_run_can_fulfil() -> None:
    terms = terms_from(ordered())
    many = msgspec.structs.replace(terms, stages=6)
    with pytest.raises(ProtocolError, match="user ordered an impossible run"):
        HELBA.plan(many.to_bytes())
    with pytest.raises(ProtocolError, match="version of helba cannot read these terms"):
        HELBA.plan(b"")


def test_the_parties_of_all_seats() -> None:
    order, user = HELBA.open(Helba(form="paper"), "aa", members(), 9, IDENTITIES["user"])
    both = frozenset({"pull", "features"})
    for seat in SEATS:
        at = place(seat, order, both)
        party = user if seat == "user" else HELBA.party(at)
        assert party.slow
        first = next(party.steps())
        assert isinstance(first, Checkpoint)
        again = HELBA.party(at, first.snapshot())
        assert type(again) is type(party)
    assert type(user) is HelbaUser


@pytest.mark.parametrize("missing", ["pull", "features"])
def test_a_user_without_a_function(missing: str) -> None:
    brings = frozenset({"pull", "features"} - {missing})
    with pytest.raises(InputError, match=f"let it set `{missing}`"):
        HELBA.party(place("user", ordered(), brings))

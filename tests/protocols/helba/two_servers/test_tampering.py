"""What somebody on the way of messages, or a party out of step, can do to two servers."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message, Once
from lotor.core.errors import InputError, ProtocolError, VersionError
from lotor.core.fixed_point import RewardScale
from lotor.environments import LinearContexts
from lotor.protocols.form import Contribution, Member
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.two_servers import messages
from lotor.protocols.helba.two_servers.form import HelbaTwoServers
from lotor.protocols.party import Run
from mallory import Change, Mallory, altered, cut, flipped, previous
from protocols.helba.shared.stage import noted

BUDGET = 8
TOY = LinearContexts.toy(BUDGET, seed=5)
HELBA = lotor.Helba(servers=2)
PLACED: dict[type[Message], str] = {
    garbled.InputLabels: "labels",
    garbled.DecodingTable: "tags",
    garbled.ShownOutputs: "tags",
    messages.RenewalColumns: "columns",
    messages.PadWords: "words",
    messages.PaddedEstimate: "words",
    messages.ModelWords: "words",
    messages.ScoreColumns: "columns",
    messages.PaddedContexts: "words",
    messages.ScoreWords: "words",
    messages.ScoreDifferences: "words",
    messages.PaddedUpdate: "words",
}
AT_THE_END: tuple[type[Message], ...] = (messages.PaddedTotal, messages.TotalShare)
DIGESTS: tuple[type[Message], ...] = (messages.UserPadKey, messages.PadServerTerms)


def attack(kind: type[Message], change: Change, after: int = 3) -> Outcome:
    return run_openly(HELBA, TOY, budget=BUDGET, transport=Mallory(kind, change, after))


@pytest.mark.parametrize("kind", [*PLACED, *DIGESTS, *AT_THE_END])
def test_a_message_that_was_cut(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="bytes that are not one"):
        attack(kind, cut, after=3 if kind in PLACED else 0)


@pytest.mark.parametrize("kind", PLACED)
def test_a_message_of_another_round(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="out of step or runs another version"):
        attack(kind, previous)


@pytest.mark.parametrize(("kind", "field"), [*PLACED.items(), *((k, "words") for k in AT_THE_END)])
@pytest.mark.parametrize("change", [lambda data: data[:-8], lambda data: data + bytes(8)])
def test_a_message_of_another_length(
    kind: type[Message], field: str, change: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(ProtocolError, match=r"bytes for (round|batch)"):
        attack(kind, altered(field, change), after=3 if kind in PLACED else 0)


@pytest.mark.parametrize("kind", [k for k, field in PLACED.items() if field == "words"])
def test_words_that_are_no_residues(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match=r"(user-[12]|server) sent .*residue"):
        attack(kind, altered("words", lambda data: b"\xff" * len(data)))


@pytest.mark.parametrize("kind", DIGESTS)
def test_other_terms_are_noticed_before_any_key_is_used(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="keeps other terms than this party"):
        attack(kind, altered("digest", flipped), after=0)


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(ProtocolError, match="sent a key of 24 bytes, not 32"):
        attack(messages.UserPadKey, altered("key", lambda key: key[8:]), after=0)


def test_a_count_that_does_not_fit_stops_the_run() -> None:
    """The last words of an update count it; all of them are under pads."""
    zeroed = altered("words", lambda data: data[:-16] + bytes(16))
    with pytest.raises(ProtocolError, match="has not summed each of 6 updates once"):
        attack(messages.PaddedUpdate, zeroed, after=4)


@pytest.mark.parametrize("kind", AT_THE_END)
def test_an_altered_total_is_no_total(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="no total of 8 rewards"):
        attack(kind, altered("words", lambda data: bytes(len(data))), after=0)


def test_altered_labels_are_noticed_and_nobody_hears_which() -> None:
    said = set()
    for position in (0, 77, 1600, 5000):
        with pytest.raises(ProtocolError, match="tag does not belong to its bit") as caught:
            attack(garbled.InputLabels, altered("labels", partial(flipped, position=position)))
        said.add(str(caught.value))
    assert len(said) == 1


@pytest.mark.parametrize("kind", [garbled.DecodingTable, garbled.ShownOutputs])
@pytest.mark.parametrize("field", ["colours", "tags"])
def test_altered_outputs_are_noticed(kind: type[Message], field: str) -> None:
    with pytest.raises(ProtocolError, match="tag does not belong to its bit"):
        attack(kind, altered(field, lambda data: bytes(255 - each for each in data)))


def test_once_is_yielded_before_what_it_covers() -> None:
    """What depends on inputs leaves only after these were handed to the journal."""
    for seat, covered, rounds in (
        ("server", {messages.PaddedEstimate, messages.ScoreWords}, BUDGET),
        ("pad-server", {messages.ModelWords, garbled.InputLabels}, BUDGET),
        ("user-1", {messages.PaddedContexts}, BUDGET // 2),
    ):
        kinds = noted(HELBA, TOY, seat)
        for before, kind in pairwise(kinds):
            assert (kind in covered) == (before is Once)
        assert kinds.count(Once) == rounds * len(covered)


def test_a_run_is_not_restored_by_a_version_that_garbles_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other rounds under the same labels and transfers would give inputs away."""
    run = Run("aa", 2, BUDGET, RewardScale(*TOY.reward_range), 1, TOY, 1)
    order, _ = HELBA.opened(run)
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", 3)
    with pytest.raises(VersionError, match="finish the run with the version that began it"):
        HELBA.in_form().plan(order)


def test_users_who_bring_different_things_are_refused_by_name() -> None:
    form = HelbaTwoServers()
    run = Run("aa", 2, BUDGET, RewardScale(*TOY.reward_range), 1, TOY, 1)
    members = dict(form.simulated(HELBA, run))
    members["user"] = [*members["user"][:1], Member("graz", Contribution(3, -1.0, 1.0, 6))]
    with pytest.raises(InputError, match=r"graz brings other arms, .* than user-1"):
        form.brought(members)


def test_orders_that_name_a_user_twice_are_refused() -> None:
    form = HELBA.in_form()
    run = Run("aa", 2, BUDGET, RewardScale(*TOY.reward_range), 1, TOY, 1)
    order, _ = HELBA.opened(run)
    terms = msgspec.msgpack.decode(order)
    for users in ([], ["lyon", "lyon"]):
        with pytest.raises(ProtocolError, match="customer ordered an impossible run: users are"):
            form.plan(msgspec.msgpack.encode({**terms, "users": users}))
    with pytest.raises(ProtocolError, match="name of another seat"):
        form.plan(msgspec.msgpack.encode({**terms, "users": ["server"]}))


def test_messages_show_nothing_of_what_they_carry() -> None:
    for one in run_openly(HELBA, TOY, budget=2).recorder.exchanges:
        assert repr(one.message) == f"<{type(one.message).__name__}>"

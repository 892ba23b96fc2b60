"""What somebody on the way of messages, or a party out of step, can do to the shared form."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Checkpoint, Effect, Message, Once
from lotor.core.errors import (
    InputError,
    IntegrityError,
    ProtocolError,
    VersionError,
)
from lotor.core.fixed_point import RewardScale
from lotor.environments import LinearContexts
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.shared import messages
from lotor.protocols.helba.shared.user import HelbaSharedUser
from lotor.protocols.party import Run
from lotor.runtime.drive import drive
from lotor.runtime.pulls import features
from lotor.transport import MemoryTransport
from mallory import Change, Mallory, altered, cut, flipped, previous, replaced
from protocols.helba.shared.stage import QUADRATIC, noted
from rebuilding import rebuildable
from relayed import Relayed

BUDGET = 8
TOY = LinearContexts.toy(BUDGET, seed=5)
HELBA = lotor.Helba(QUADRATIC)
PLACED: dict[type[Message], str] = {
    garbled.InputLabels: "labels",
    messages.ProductColumns: "columns",
    messages.CoveredUpdate: "words",
    messages.EstimateWords: "words",
    messages.CoveredEstimate: "words",
    messages.ContextWords: "words",
    messages.CoveredShares: "words",
}
ONCE: tuple[type[Message], ...] = (messages.UsersKeyOffer, messages.SealedUsersKeys)


def attack(kind: type[Message], change: Change, after: int = 3) -> Outcome:
    return run_openly(HELBA, TOY, budget=BUDGET, transport=Mallory(kind, change, after))


@pytest.mark.parametrize("kind", [*PLACED, *ONCE])
def test_a_message_that_was_cut(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="bytes that are not one"):
        attack(kind, cut, after=0 if kind in ONCE else 3)


@pytest.mark.parametrize("kind", PLACED)
def test_a_message_of_another_round(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="out of step or runs another version"):
        attack(kind, previous)


@pytest.mark.parametrize(("kind", "field"), PLACED.items())
@pytest.mark.parametrize("change", [lambda data: data[:-8], lambda data: data + bytes(8)])
def test_a_message_of_another_length(
    kind: type[Message], field: str, change: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(ProtocolError, match=r"bytes for (round|batch)"):
        attack(kind, altered(field, change))


@pytest.mark.parametrize(
    "kind",
    [
        messages.CoveredUpdate,
        messages.EstimateWords,
        messages.CoveredEstimate,
        messages.ContextWords,
    ],
)
def test_words_that_are_no_residues(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match=r"(user|server) sent .*residue"):
        attack(kind, altered("words", lambda data: b"\xff" * len(data)))


@pytest.mark.parametrize("kind", ONCE)
def test_other_terms_are_noticed_before_any_key_is_used(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="keeps other terms than this party"):
        attack(kind, altered("digest", flipped), after=0)


@pytest.mark.parametrize("kind", ONCE)
@pytest.mark.parametrize("field", [1, 2])
def test_forged_keys_are_refused(kind: type[Message], field: int) -> None:
    with pytest.raises(IntegrityError, match="signature"):
        attack(kind, altered(kind.__struct_fields__[field], flipped), after=0)


def test_an_authority_that_seals_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lotor.protocols.helba.shared.authority.new_key", lambda: bytes(31))
    with pytest.raises(ProtocolError, match="instead of two keys"):
        run_openly(HELBA, TOY, budget=BUDGET)


def test_a_count_that_does_not_fit_stops_the_run() -> None:
    """The last words of an update count it; all of them are under pads."""
    zeroed = altered("words", lambda data: data[:-16] + bytes(16))
    with pytest.raises(ProtocolError, match="has not summed each of 5 updates once"):
        attack(messages.CoveredUpdate, zeroed, after=4)


def test_altered_labels_are_noticed_and_nobody_hears_which() -> None:
    said = set()
    for position in (0, 77, 1600, 5000):
        with pytest.raises(ProtocolError, match="tag does not belong to its bit") as caught:
            attack(garbled.InputLabels, altered("labels", partial(flipped, position=position)))
        said.add(str(caught.value))
    assert len(said) == 1


def test_altered_tables_end_the_run_or_change_nothing() -> None:
    """A row that is not met does not matter; one that is met gives a label that is in no table."""
    honest = run_openly(HELBA, TOY, budget=BUDGET).arms
    for position in (0, 100, 2000):
        change = altered("tables", partial(flipped, position=position))
        with suppress(ProtocolError):
            assert attack(garbled.GarbledTables, change, after=0).arms == honest


def test_once_is_yielded_before_what_it_covers() -> None:
    """What depends on inputs leaves only after these were handed to the journal."""
    for seat, covered in (
        ("server", {messages.CoveredEstimate, garbled.InputLabels}),
        ("user", {messages.ContextWords}),
    ):
        kinds = noted(HELBA, TOY, seat)
        for before, kind in pairwise(kinds):
            assert (kind in covered) == (before is Once)
        assert kinds.count(Once) == BUDGET * len(covered)


def snapshots_of(run: Run) -> dict[str, list[bytes]]:
    made = rebuildable(HELBA, run)
    found: dict[str, list[bytes]] = {name: [] for name in made}

    def kept(name: str, effect: Effect) -> Effect:
        if isinstance(effect, Checkpoint):
            found[name].append(effect.snapshot())
        return effect

    parties = {name: Relayed(one.party, partial(kept, name)) for name, one in made.items()}
    drive(
        parties,
        MemoryTransport(),
        TOY.start(1),
        observe=partial(features, TOY),
    )
    return found


def test_a_run_is_not_restored_by_a_version_that_garbles_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other rounds under the same labels and transfers would give inputs away."""
    run = Run("aa", 2, BUDGET, RewardScale(*TOY.reward_range), 1, TOY, 1)
    order, _ = HELBA.opened(run)
    form = HELBA.in_form()
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", 3)
    with pytest.raises(VersionError, match="finish the run with the version that began it"):
        form.plan(order)


def test_no_snapshot_keeps_what_its_party_should_forget() -> None:
    """The user's sealing key goes once it is used; the authority keeps no key in clear."""
    run = Run("aa", 2, BUDGET, RewardScale(*TOY.reward_range), 1, TOY, 1)
    found = snapshots_of(run)
    last = msgspec.msgpack.decode(found["user"][-1])
    assert last["sealing_key"] == b""
    keys = [last["pad_key"], last["tie_key"]]
    for snapshot in (*found["server"], *found["key-authority"]):
        assert not any(key in snapshot for key in keys)


def test_contexts_that_are_too_long_are_refused_by_the_user() -> None:
    long = LinearContexts(TOY.contexts, TOY.theta)
    object.__setattr__(long, "contexts", TOY.contexts.copy())
    run = Run("aa", 2, BUDGET, RewardScale(*long.reward_range), 1, long, 1)
    parties = HELBA.parties(run)
    assert isinstance(parties["user"], HelbaSharedUser)
    long.contexts[3] = [[0.0, 6.0], [0.0, 0.0]]
    with pytest.raises(InputError, match="a context is longer than L"):
        drive(parties, MemoryTransport(), long.start(1), observe=partial(features, long))


def test_messages_show_nothing_of_what_they_carry() -> None:
    for one in run_openly(HELBA, TOY, budget=2).recorder.exchanges:
        assert repr(one.message) == f"<{type(one.message).__name__}>"


def test_replaced_fields_are_those_of_messages() -> None:
    with pytest.raises(ProtocolError):
        attack(messages.CoveredShares, replaced(place=b""))

"""A restarted server takes off the same masks and undoes the same coins."""

from collections.abc import Iterator

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Message, Receive, Send, Steps
from lotor.protocols.helba.paper import messages, server_state, wire
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.helba.paper.server_state import HelbaServerMemory
from lotor.protocols.party import Party
from protocols.helba.stage import paper, small
from protocols.helba.test_resume import rebuild, restarting
from restarting import Restarting

# The published form, which takes its time; what `make test` runs covers its common case.
pytestmark = pytest.mark.long

ROUNDS = 4
TOY = lotor.LinearContexts.toy(ROUNDS, seed=5)
HELBA = small(paper(1.0, 2.0))


@pytest.mark.parametrize(
    ("windows", "every", "budget"),
    [("small", 1, 2), ("large", 4, 2), pytest.param("large", 4, 4, marks=pytest.mark.long)],
)
def test_restarted_equals_uninterrupted(
    windows: str, every: int, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every effect: within doubts, masks, refreshed parts, contexts and updates."""
    if windows == "small":
        monkeypatch.setattr(wire, "WINDOW_BYTES", 1 << 20)
        monkeypatch.setattr(server_state, "REWRITE_ROUNDS", 2)
    smooth = run_openly(HELBA, TOY, budget=budget, seed=6)
    wrapped: list[Restarting] = []
    broken = run_openly(HELBA, TOY, budget=budget, seed=6, wrap=restarting(every, wrapped))
    assert all(party.restarts > 0 for party in wrapped)
    assert broken.arms == smooth.arms
    assert broken.seats["user"].output == smooth.seats["user"].output
    kinds = [type(seen.message) for seen in broken.recorder.exchanges]
    assert kinds == [type(seen.message) for seen in smooth.recorder.exchanges]
    assert messages.SignBit in kinds
    assert messages.RefreshedEntry in kinds


class Filming(Party):
    """Notes for each of a server's checkpoints the snapshot, and what it sent and got after it."""

    def __init__(self, party: Party) -> None:
        self.party = party
        self.scenes: list[tuple[bytes, list[Message], list[Message]]] = []

    def operations(self) -> dict[str, int]:
        return dict(self.party.operations())

    def steps(self) -> Steps[object]:
        steps, value = self.party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                assert effect.durable or not self.scenes
                self.scenes.append((effect.snapshot(), [], []))
            value = yield effect
            if isinstance(effect, Send):
                self.scenes[-1][1].append(effect.message)
            if isinstance(effect, Receive):
                self.scenes[-1][2].append(value)


@pytest.fixture(scope="module")
def film() -> Filming:
    films: list[Filming] = []

    def wrap(name: str, party: Party) -> Party:
        if name != "server":
            return party
        films.append(Filming(party))
        # So that old scenes can be played again.
        party._state.store.retain = lambda _: None  # type: ignore[attr-defined]
        return films[0]

    run_openly(HELBA, TOY, budget=ROUNDS, seed=6, wrap=wrap)
    return films[0]


def played(film: Filming, snapshot: bytes, handed: list[Message]) -> Iterator[Message]:
    """What a server that is restored from a snapshot sends, until it has got all of this."""
    server = rebuild(film.party, snapshot)
    assert isinstance(server, HelbaServer)
    server._state.store.retain = lambda names: None  # type: ignore[method-assign]
    steps, answers = server.steps(), iter(handed)
    effect = next(steps)
    try:
        while True:
            if isinstance(effect, Send):
                yield effect.message
            answer = None
            if isinstance(effect, Receive):
                answer = next(answers, None)
                if answer is None:
                    return
            try:
                effect = steps.send(answer)
            except StopIteration:
                return
            if isinstance(effect, Checkpoint):
                return
    finally:
        steps.close()


def test_the_same_bytes_leave_again(film: Filming) -> None:
    """Doubts, masked estimates and choices: from each checkpoint exactly what was sent then."""
    seen = set()
    for snapshot, sent, got in film.scenes[2:]:
        again = list(played(film, snapshot, got))
        assert again == sent
        seen |= {type(message) for message in sent}
    assert {
        messages.CoveredSign,
        messages.MaskedEntry,
        messages.EncryptedChoice,
        messages.BatchDecision,
    } <= seen


def test_what_covers_a_value_is_on_the_disk_before_it_leaves(film: Filming) -> None:
    for snapshot, sent, _ in film.scenes:
        memory = msgspec.msgpack.decode(snapshot, type=HelbaServerMemory)
        for message in sent:
            if isinstance(message, messages.CoveredSign):
                assert memory.help.doubt == message.ciphertext
                assert memory.help.coin in (1, -1)
            if isinstance(message, messages.MaskedEntry):
                assert len(memory.help.masks) == len(memory.help.masked) == 5
                assert len(set(memory.help.masks)) == 5


def test_no_mask_or_coin_is_used_twice(film: Filming) -> None:
    memories = [msgspec.msgpack.decode(s, type=HelbaServerMemory) for s, _, _ in film.scenes]
    batches = {memory.help.masks for memory in memories if memory.help.masks}
    keys = [key for batch in batches for key in batch]
    assert len(keys) == len(set(keys)) >= 10
    doubts = [memory.help.doubt for memory in memories if memory.help.doubt]
    assert len(set(doubts)) == sum(
        isinstance(message, messages.CoveredSign) for _, sent, _ in film.scenes for message in sent
    )


def test_a_server_keeps_ciphertexts_keys_of_masks_and_public_things_only(film: Filming) -> None:
    memory = msgspec.msgpack.decode(film.scenes[-1][0], type=HelbaServerMemory)
    server = film.party
    assert isinstance(server, HelbaServer)
    keys = set(memory.keys)
    for name, data in server._state.store._kept.items():  # type: ignore[attr-defined]
        assert data.startswith(b"LCks\x01\x04") or name in keys
    assert set(msgspec.structs.asdict(memory.help)) == {
        "decided",
        "coin",
        "doubt",
        "masks",
        "masked",
        "refreshed",
    }

"""A party rebuilt from its checkpoint goes on as if nothing had happened."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Effect, Receive, Send, Steps
from lotor.core.errors import FormatError, InputError, JournalError
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper import server_state, wire
from lotor.protocols.helba.paper.authority import HelbaAuthority
from lotor.protocols.helba.paper.messages import Contexts, EncryptedChoice
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.helba.paper.server_state import HelbaServerMemory
from lotor.protocols.helba.paper.user import HelbaUser, HelbaUserMemory
from lotor.protocols.party import Party
from lotor.protocols.store import MemoryStore
from protocols.helba.stage import setting_of, small
from restarting import Restarting

PARTIES = ["user", "server", "key-authority"]
TOY = lotor.LinearContexts.toy(9, seed=5)
BATCHED = small(BatchedOFUL(eta=0.5), stages=3)


def rebuild(party: Party, snapshot: bytes) -> Party:
    """The same party after a crash: a new one from its snapshot and its store."""
    if isinstance(party, HelbaServer):
        return type(party)(party._setting, party._state.store, snapshot=snapshot)
    assert isinstance(party, HelbaUser | HelbaAuthority)
    return type(party)(party._identity, party._setting, party._store, snapshot=snapshot)


def restarting(every: int, wrapped: list[Restarting]) -> Callable[[str, Party], Party]:
    def wrap(_: str, party: Party) -> Party:
        wrapped.append(Restarting(party, lambda data: rebuild(party, data), every))
        return wrapped[-1]

    return wrap


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that every upload has several, and sums are rewritten often."""
    monkeypatch.setattr(wire, "PART_BYTES", 100_000)
    monkeypatch.setattr(wire, "WINDOW_BYTES", 300_000)
    monkeypatch.setattr(server_state, "REWRITE_ROUNDS", 2)


@pytest.mark.parametrize(
    ("windows", "every", "budget"), [("large", 1, 2), ("small", 1, 2), ("large", 3, 4)]
)
def test_restarted_equals_uninterrupted(
    windows: str, every: int, budget: int, request: pytest.FixtureRequest
) -> None:
    """From the very first effect on, within batches and within uploads."""
    compare(windows, every, budget, request)


@pytest.mark.slow
def test_restarted_equals_uninterrupted_over_several_batches(
    request: pytest.FixtureRequest,
) -> None:
    compare("small", 7, 9, request)


def compare(windows: str, every: int, budget: int, request: pytest.FixtureRequest) -> None:
    if windows == "small":
        request.getfixturevalue("small_windows")
    smooth = run_openly(BATCHED, TOY, budget=budget, seed=6)
    wrapped: list[Restarting] = []
    broken = run_openly(BATCHED, TOY, budget=budget, seed=6, wrap=restarting(every, wrapped))
    assert all(party.restarts > 0 for party in wrapped)
    assert broken.arms == smooth.arms
    assert broken.seats["user"].output == smooth.seats["user"].output
    kinds = [type(seen.message) for seen in broken.recorder.exchanges]
    assert kinds == [type(seen.message) for seen in smooth.recorder.exchanges]


class Noting(Party):
    """Keeps the snapshots of a party, with what it did and was handed after each."""

    def __init__(self, party: Party, snapshots: list[bytes]) -> None:
        self._party = party
        self._snapshots = snapshots

    def operations(self) -> dict[str, int]:
        return dict(self._party.operations())

    def steps(self) -> Steps[object]:
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                self._snapshots.append(effect.snapshot())
            value = yield effect


def noted(budget: int = 9) -> tuple[dict[str, list[bytes]], dict[str, Party]]:
    """The snapshots of all parties in a run, and the parties."""
    kept: dict[str, list[bytes]] = {name: [] for name in PARTIES}
    parties: dict[str, Party] = {}

    def wrap(name: str, party: Party) -> Party:
        parties[name] = party
        return Noting(party, kept[name])

    outcome = run_openly(BATCHED, TOY, budget=budget, seed=6, wrap=wrap)
    assert len(outcome.arms) == budget
    return kept, parties


def test_a_servers_snapshots_and_store_have_ciphertexts_and_public_keys_only(
    small_windows: None,
) -> None:
    kept, parties = noted()
    server = parties["server"]
    assert isinstance(server, HelbaServer)
    assert isinstance(server._state.store, MemoryStore)
    memories = [msgspec.msgpack.decode(data, type=HelbaServerMemory) for data in kept["server"]]
    public = {"party", "run", "t", "announced", "start"}
    named = {"keys", "received", "written", "help"}
    assert set(msgspec.structs.asdict(memories[-1])) == public | named | {"choice"}
    assert all(m.choice.startswith(b"LCks") for m in memories if m.choice)
    keys = set(memories[-1].keys)
    for name, data in server._state.store._kept.items():
        assert data.startswith(b"LCks\x01\x04") or name in keys  # a ciphertext
    user, whole = parties["user"], b"".join([*kept["server"], *server._state.store._kept.values()])
    assert isinstance(user, HelbaUser)
    assert user._key.to_bytes()[-2000:-1000] not in whole
    (first, *_) = (msgspec.msgpack.decode(data, type=HelbaUserMemory) for data in kept["user"])
    assert len(first.sealing_key) == 32
    assert first.sealing_key not in whole


def test_a_snapshot_is_short_and_old_ciphertexts_are_let_go(small_windows: None) -> None:
    kept, parties = noted()
    server = parties["server"]
    assert isinstance(server, HelbaServer)
    assert isinstance(server._state.store, MemoryStore)
    last = msgspec.msgpack.decode(kept["server"][-1], type=HelbaServerMemory)
    assert all(len(data) - len(last.choice) < 10_000 for data in kept["server"])
    assert set(server._state.store._kept) == set(last.names())
    # Sums are rewritten at the start of a batch, and in the middle of a long one.
    assert len(last.written.log) <= 4
    logs = [
        msgspec.msgpack.decode(data, type=HelbaServerMemory).written.log for data in kept["server"]
    ]
    assert max(map(len, logs)) <= 4


def test_the_secret_key_is_not_at_the_authority(small_windows: None) -> None:
    kept, parties = noted(2)
    authority, user = parties["key-authority"], parties["user"]
    assert isinstance(authority, HelbaAuthority)
    assert isinstance(user, HelbaUser)
    assert isinstance(authority._store, MemoryStore)
    secret = user._key.to_bytes()[-2000:-1000]
    assert secret not in b"".join([*kept["key-authority"], *authority._store._kept.values()])


def choice_of(server: HelbaServer, handed: list[object]) -> tuple[bytes, list[Effect]]:
    """The next choice that a restored server sends, and what it asked for until then."""
    steps, values = server.steps(), iter(handed)
    asked: list[Effect] = []
    effect = next(steps)
    while not (isinstance(effect, Send) and isinstance(effect.message, EncryptedChoice)):
        asked.append(effect)
        effect = steps.send(next(values) if isinstance(effect, Receive) else None)
    steps.close()
    return effect.message.ciphertext, asked


def test_a_choice_is_never_computed_twice() -> None:
    """Fresh noise on one answer, again and again, would let the user average it away."""
    kept, parties = noted(3)
    server = parties["server"]
    assert isinstance(server, HelbaServer)
    memories = [msgspec.msgpack.decode(data, type=HelbaServerMemory) for data in kept["server"]]
    answered = [
        data for data, memory in zip(kept["server"], memories, strict=True) if memory.choice
    ]
    assert len(answered) == 3
    # The last is still in the store.
    for _ in range(2):
        again = rebuild(server, answered[-1])
        assert isinstance(again, HelbaServer)
        sent, asked = choice_of(again, [])
        assert sent == memories[-1].choice
        assert not any(isinstance(effect, Receive) for effect in asked)
        assert again.operations()["ckks_floods"] == 0


def test_nothing_is_sent_between_an_answer_and_its_checkpoint() -> None:
    """What was computed before a crash and not written down was not sent, either."""
    effects: list[object] = []

    class Watching(Noting):
        def steps(self) -> Steps[object]:
            steps, value = self._party.steps(), None
            while True:
                try:
                    effect = steps.send(value)
                except StopIteration as end:
                    return end.value
                effects.append(effect)
                value = yield effect

    run_openly(
        BATCHED,
        TOY,
        budget=3,
        seed=6,
        wrap=lambda name, party: Watching(party, []) if name == "server" else party,
    )
    for place, effect in enumerate(effects):
        if isinstance(effect, Send) and isinstance(effect.message, EncryptedChoice):
            before = effects[place - 1]
            assert isinstance(before, Checkpoint)
            assert before.durable
            received = effects[place - 2]
            assert isinstance(received, Receive)
            assert received.kind is Contexts


def test_a_snapshot_without_its_store_or_of_another_run_is_refused() -> None:
    kept, parties = noted(2)
    server = parties["server"]
    assert isinstance(server, HelbaServer)
    setting = setting_of(BATCHED, rounds=2, arms=2, d=2)
    with pytest.raises(InputError, match="restore each party from its own"):
        HelbaServer(setting, MemoryStore(), snapshot=kept["server"][-1])
    with pytest.raises(FormatError):
        HelbaServer(setting, MemoryStore(), snapshot=kept["server"][-1][:-9])
    alone = HelbaServer(server._setting, MemoryStore(), snapshot=kept["server"][-1])
    with pytest.raises(JournalError, match="is not in this store"):
        next(alone.steps())

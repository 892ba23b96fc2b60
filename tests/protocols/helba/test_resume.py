"""A party rebuilt from its checkpoint goes on as if nothing had happened."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint
from lotor.core.errors import FormatError, InputError, JournalError
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.authority import Authority
from lotor.protocols.helba.server import Server, ServerMemory
from lotor.protocols.helba.store import MemoryStore
from lotor.protocols.helba.user import User
from lotor.protocols.party import Party
from protocols.helba.stage import setting_of, small
from restarting import Restarting

PARTIES = ["user", "server", "authority"]
TOY = lotor.LinearContexts.toy(5, seed=5)
BATCHED = small(BatchedOFUL(eta=0.5), stages=3)


def rebuild(party: Party, snapshot: bytes, stores: dict[str, MemoryStore]) -> Party:
    """The same party after a crash: a new one from its snapshot and its store."""
    if isinstance(party, User):
        args = (party._identity, party._setting, party._contexts, stores["user"])
        return User(*args, snapshot=snapshot)
    if isinstance(party, Server):
        return Server(party._setting, party._store, snapshot=snapshot)
    assert isinstance(party, Authority)
    return Authority(party._identity, party._setting, stores["authority"], snapshot=snapshot)


def restarting(every: int, wrapped: list[Restarting]) -> Callable[[str, Party], Party]:
    def wrap(name: str, party: Party) -> Party:
        stores = {}
        if isinstance(party, User):
            assert isinstance(party._store, MemoryStore)
            stores["user"] = party._store
        if isinstance(party, Authority):
            stores["authority"] = MemoryStore()
            stores["authority"].keep(party._secret.to_bytes())
            party._memory.key = next(iter(stores["authority"]._kept))
        wrapped.append(Restarting(party, lambda data: rebuild(party, data, stores), every))
        return wrapped[-1]

    return wrap


@pytest.mark.parametrize("every", [1, 2, 3])
def test_restarted_equals_uninterrupted(every: int) -> None:
    """From the very first effect on, and within batches."""
    smooth = run_openly(BATCHED, TOY, budget=5, seed=6)
    wrapped: list[Restarting] = []
    broken = run_openly(BATCHED, TOY, budget=5, seed=6, wrap=restarting(every, wrapped))
    assert all(party.restarts > 0 for party in wrapped)
    assert broken.arms == smooth.arms
    assert broken.seats["user"].output == smooth.seats["user"].output


class Noting:
    """Keeps the snapshots of a party."""

    def __init__(self, party: Party, snapshots: list[bytes]) -> None:
        self._party = party
        self._snapshots = snapshots

    def operations(self) -> dict[str, int]:
        return dict(self._party.operations())

    def steps(self):  # type: ignore[no-untyped-def]
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                self._snapshots.append(effect.snapshot())
            value = yield effect


def test_a_servers_snapshot_has_ciphertexts_and_names_of_keys_only() -> None:
    kept: dict[str, list[bytes]] = {name: [] for name in PARTIES}
    outcome = run_openly(
        BATCHED, TOY, budget=5, seed=6, wrap=lambda name, party: Noting(party, kept[name])
    )
    assert len(outcome.arms) == 5
    memories = [msgspec.msgpack.decode(data, type=ServerMemory) for data in kept["server"]]
    estimates = [bool(memory.estimate) for memory in memories]
    # Before set-up, before rounds 1 to 5: new estimates are due before 1, 2 and 3 and 5.
    assert estimates == [False, False, False, False, True, False]
    last = memories[-1]
    assert len(last.sums) == 5
    public = {"party", "run", "t", "fingerprint", "public", "evaluation", "start"}
    assert set(msgspec.structs.asdict(last)) == public | {"sums", "estimate"}
    assert all(data.startswith(b"LCks") for data in (*last.sums, *last.estimate))


def test_a_snapshot_without_its_store_or_of_another_run_is_refused() -> None:
    kept: dict[str, list[bytes]] = {name: [] for name in PARTIES}
    run_openly(BATCHED, TOY, budget=2, seed=6, wrap=lambda n, party: Noting(party, kept[n]))
    setting = setting_of(BATCHED, rounds=2, arms=2, d=2)
    with pytest.raises(InputError, match="restore each party from its own"):
        Server(setting, MemoryStore(), snapshot=kept["server"][-1])
    memory = msgspec.msgpack.decode(kept["server"][-1], type=ServerMemory)
    memory.run = "run"
    with pytest.raises(JournalError, match="is not in this store"):
        Server(setting, MemoryStore(), snapshot=memory.dump())
    with pytest.raises(FormatError):
        Server(setting, MemoryStore(), snapshot=kept["server"][-1][:-9])

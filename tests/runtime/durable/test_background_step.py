"""A slow party thinks elsewhere, and comes to what it would come to here."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import ClassVar

import pytest

from lotor.core.effects import Checkpoint, Decision, Message, Pull, Receive, Send, Steps
from lotor.core.errors import InputError, JournalError
from lotor.protocols.party import Party
from lotor.runtime.durable import record
from lotor.runtime.durable.frames import Data, Join, RunFrame
from lotor.runtime.durable.host import Host, first_snapshot
from lotor.runtime.durable.record import RunRecord
from lotor.runtime.wire import encode

ROUNDS = 3


class Note(Message, frozen=True, tag="test/note"):
    body: bytes


class Thinker(Party):
    """Notes in which thread it thinks; a note of b"bad" is more than it can bear."""

    slow: ClassVar[bool] = True

    def __init__(self, snapshot: bytes = b"0") -> None:
        self._t = int(snapshot)
        self.threads: set[str] = set()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def _snapshot(self) -> bytes:
        self._think()
        return b"%d" % self._t

    def _think(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.goes_on.wait(60)

    def steps(self) -> Steps[str]:
        for t in range(self._t, ROUNDS):
            self._t = t
            self._think()
            yield Checkpoint(self._snapshot, t, durable=True)
            note: Note = yield Receive("boss", Note)
            self._think()
            if note.body == b"bad":
                raise InputError("more than it can bear")
            paid = yield Pull(Decision.named("aa", t, 0))
            yield Send("boss", Note(b"%g" % paid))
        return "done"


class Quick(Thinker):
    slow: ClassVar[bool] = False


class Broken(Thinker):
    def _think(self) -> None:
        raise JournalError("its store is gone")


@pytest.fixture
def disk() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in record.SCHEMA.split(";"):
            connection.execute(statement)
        RunRecord(connection, "aa").create(first_snapshot(Thinker()))
        yield connection


class Boss:
    """The other end, and the thread that drives."""

    def __init__(self, disk: sqlite3.Connection, kind: type[Thinker]) -> None:
        self.frames: list[RunFrame] = []
        self.parties: list[Thinker] = []

        def rebuild(snapshot: bytes) -> Thinker:
            self.parties.append(kind(snapshot))
            return self.parties[-1]

        record = RunRecord(disk, "aa")
        self.host = Host("thinker", rebuild, record, ["boss"], lambda _, f: self.frames.append(f))
        self.host.joined("boss", Join("aa", 1, 0, 0, 0, 0))
        self.seq = self.host.links["boss"].consumed

    def advance(self) -> None:
        self.host.advance()
        while self.host.background_step is not None:
            thread = threading.Thread(target=self.host.background_step.run, name="mind")
            thread.start()
            thread.join()
            self.host.advance()

    def note(self, body: bytes = b"") -> None:
        self.seq += 1
        self.host.received("boss", Data("aa", self.seq, 0, 0, encode(Note(body))))

    def sent(self) -> list[bytes]:
        return [frame.payload for frame in self.frames if isinstance(frame, Data)]


def test_a_slow_party_comes_to_the_same(disk: sqlite3.Connection) -> None:
    seen = {}
    for kind in (Quick, Thinker):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            disk.backup(copy)
            boss = Boss(copy, kind)
            boss.advance()
            for t in range(ROUNDS):
                boss.note()
                boss.advance()
                boss.host.answered(float(t))
                boss.advance()
            assert boss.host.finished
            rows = copy.execute("SELECT * FROM progress").fetchall()
            seen[kind] = (boss.host.output, boss.sent(), rows)
            assert boss.parties[0].threads == {"mind" if kind.slow else "MainThread"}
    assert seen[Quick] == seen[Thinker]


def test_nothing_happens_while_it_thinks(disk: sqlite3.Connection) -> None:
    boss = Boss(disk, Thinker)
    restored = [boss.host.restored]
    boss.advance()
    assert [*restored, boss.host.restored] == [False, True]
    boss.note()
    boss.host.advance()
    step = boss.host.background_step
    assert step is not None
    for _ in range(3):
        boss.host.advance()
        assert boss.host.background_step is step
    assert boss.host.asked is None
    boss.advance()
    assert boss.host.asked is not None


def test_its_errors_are_raised_where_it_is_driven(disk: sqlite3.Connection) -> None:
    boss = Boss(disk, Thinker)
    boss.advance()
    boss.note(b"bad")
    with pytest.raises(InputError, match="more than it can bear") as error:
        boss.advance()
    assert error.value.__notes__ == ["(raised at thinker)"]
    broken = Boss(disk, Broken)
    with pytest.raises(JournalError):
        broken.advance()
    assert not broken.host.restored


def test_it_is_let_go_while_it_thinks(disk: sqlite3.Connection) -> None:
    boss = Boss(disk, Thinker)
    boss.advance()
    boss.note()
    boss.host.advance()
    step = boss.host.background_step
    assert step is not None
    boss.parties[0].goes_on.clear()
    thread = threading.Thread(target=step.run)
    thread.start()
    while not boss.parties[0].threads - {"mind"}:
        thread.join(0.01)
    boss.host.close()
    over = [step.done]
    boss.parties[0].goes_on.set()
    thread.join()
    assert [*over, step.done] == [False, True]
    # Nothing was written: the next one goes on from the same place.
    assert Boss(disk, Thinker).host.links["boss"].consumed == 0

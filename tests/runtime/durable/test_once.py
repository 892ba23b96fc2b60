"""A value that may leave once is on the disk before it does, and never becomes another one."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from lotor.core.effects import (
    Checkpoint,
    Decision,
    Effect,
    Message,
    Observe,
    Once,
    Pull,
    Receive,
    Send,
    Steps,
)
from lotor.core.errors import JournalError
from lotor.protocols.party import Party
from lotor.runtime.durable import record
from lotor.runtime.durable.frames import Data, Join, RunFrame
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import RUNNING, STOPPED, Journal, RunRow
from lotor.runtime.durable.record import RunRecord

SECRET = b"a score of 17"
DECISION = Decision.named("aa", 1, 0)


class Score(Message, frozen=True, tag="test/1/score"):
    value: bytes


class Never(Message, frozen=True, tag="test/1/never"):
    pass


class Scripted(Party):
    """Yields these effects, and then waits for ever."""

    def __init__(self, *effects: Effect) -> None:
        self._effects = effects

    def steps(self) -> Steps[None]:
        yield Checkpoint(lambda: b"")
        for effect in self._effects:  # noqa: UP028 (a tuple has no `send`)
            yield effect
        yield Receive("peer", Never)


class SlowlyScripted(Scripted):
    slow = True


def sending(value: bytes) -> Scripted:
    return Scripted(Once(value), Send("peer", Score(value)))


@pytest.fixture
def disk() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        for statement in record.SCHEMA.split(";"):
            database.execute(statement)
        RunRecord(database, "aa").create(b"", repeatable=True)
        yield database


def host_of(
    disk: sqlite3.Connection,
    party: Party,
    send: Callable[[str, RunFrame], None] = lambda *_: None,
    *,
    alike: bool = False,
) -> Host:
    run = RunRecord(disk, "aa")
    host = Host("lyon", lambda _: party, run, ["peer"], send, alike=alike)
    host.joined("peer", Join("aa", 1, 0, 0, 0, 0))
    return host


def live(disk: sqlite3.Connection, party: Party) -> list[bytes]:
    """One life of a party that ends without a checkpoint, and what it sent."""
    frames: list[RunFrame] = []
    with closing(host_of(disk, party, lambda _, frame: frames.append(frame))) as host:
        host.advance()
        while host.background_step is not None:
            host.background_step.run()
            host.advance()
    return [frame.payload for frame in frames if isinstance(frame, Data)]


def entries(disk: sqlite3.Connection) -> list[tuple[object, ...]]:
    return disk.execute("SELECT * FROM pulls ORDER BY number").fetchall()


def commits(disk: sqlite3.Connection) -> int:
    again = RunRecord(disk, "aa")
    again.begin()
    return again.commits


def test_it_is_on_the_disk_before_it_leaves(disk: sqlite3.Connection) -> None:
    statements: list[str] = []
    seen: list[tuple[int, list[str]]] = []

    def send(_: str, frame: RunFrame) -> None:
        if isinstance(frame, Data):
            seen.append((frame.commits, list(statements)))

    with closing(host_of(disk, sending(SECRET), send)) as host:
        disk.set_trace_callback(statements.append)
        host.advance()
        disk.set_trace_callback(None)
    ((written, before),) = seen
    assert written == 1
    assert len(before) == 1  # one commit, and neither a checkpoint nor another way to sync
    assert before[0].startswith("INSERT INTO pulls")
    assert disk.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("kind", [Scripted, SlowlyScripted])
def test_the_same_value_goes_on(disk: sqlite3.Connection, kind: type[Scripted]) -> None:
    party = kind(Once(SECRET), Send("peer", Score(SECRET)), Once(b""))
    sent = live(disk, party)
    rows = entries(disk)
    assert len(sent) == 1
    assert [row[1:] for row in rows] == [
        (1, None, 1, None, sha256(SECRET).digest(), 1),
        (2, None, 1, None, sha256(b"").digest(), 1),
    ]
    assert live(disk, party) == sent
    assert entries(disk) == rows
    assert commits(disk) == 2


@pytest.mark.parametrize("kind", [Scripted, SlowlyScripted])
def test_another_value_ends_it(disk: sqlite3.Connection, kind: type[Scripted]) -> None:
    live(disk, sending(SECRET))
    rows, frames = entries(disk), list[RunFrame]()
    other = kind(Once(b"a score of 18"), Send("peer", Score(b"a score of 18")))
    with closing(host_of(disk, other, lambda _, frame: frames.append(frame))) as host:
        failures: list[str] = []
        for _ in range(8):  # a slow party needs some of these to come to its failure
            try:
                host.advance()
                if host.background_step is not None:
                    host.background_step.run()
            except JournalError as failure:
                failures.append(str(failure))
        assert host.restored  # so that a daemon ends the run, and does not set it aside
        assert not host.finished
    assert len(failures) > 2
    assert len(set(failures)) == 1
    assert "lyon has come to another value than the one in its journal (entry 1)" in failures[0]
    assert "score" not in failures[0]
    assert entries(disk) == rows
    assert not any(isinstance(frame, Data) for frame in frames)


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        (Once(SECRET), Pull(None), "another decision"),
        (Once(SECRET), Pull(DECISION), "another decision"),
        (Once(SECRET), Observe(DECISION, (0, 4)), "another decision"),
        (Pull(DECISION, masked=True), Once(b""), "another value"),
    ],
)
def test_an_entry_of_another_kind_is_refused(
    disk: sqlite3.Connection, first: Effect, then: Effect, said: str
) -> None:
    with closing(host_of(disk, Scripted(first))) as host:
        host.advance()
        if host.asked:
            host.answered(0.5)
    assert len(entries(disk)) == 1
    with pytest.raises(JournalError, match=said):
        live(disk, Scripted(then))


@pytest.mark.parametrize("alike", [False, True])
def test_peers_do_not_see_who_was_pulled_under_a_mask(alike: bool) -> None:
    """Each frame says how often the journal was written."""
    written = []
    for decision, reward in ((DECISION, 0.5), (None, None)):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as disk:
            for statement in record.SCHEMA.split(";"):
                disk.execute(statement)
            RunRecord(disk, "aa").create(b"", repeatable=True)
            pulled = Scripted(Pull(decision, masked=True), Send("peer", Score(b"")))
            with closing(host_of(disk, pulled, alike=alike)) as host:
                host.advance()
                if host.asked:
                    host.answered(reward)
                    host.advance()
                # What frames say, and what they say after a restart.
                written.append((host._record.commits, commits(disk)))
    assert written == [(0, 0), (0, 0)]


def test_what_the_world_answered_before_is_on_the_disk_too(disk: sqlite3.Connection) -> None:
    """Numbered with the questions, and replayed in their order."""
    party = Scripted(Pull(DECISION), Once(SECRET), Pull(None), Once(SECRET))
    with closing(host_of(disk, party)) as host:
        host.advance()
        host.answered(0.5)
        host.advance()
    assert [row[1] for row in entries(disk)] == [1, 2, 4]
    assert live(disk, party) == []
    assert commits(disk) == 2


def test_nothing_shows_it() -> None:
    assert repr(Once(SECRET)) == str(Once(SECRET)) == "<Once of 13 bytes>"
    shown = repr(record.PullRecord.of_row(1, None, None, SECRET, 1))
    assert "score" not in shown
    assert "once" not in shown


def test_it_is_no_pull_and_goes_with_its_run(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, "lyon (owner)")) as journal:
        journal.add(RunRow("aa", b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "1", 9), b"state")
        run = journal.record("aa")
        run.begin()
        run.keep_once(1, sha256(SECRET).digest())
        assert journal.pulled("aa") == (0, None)
        assert journal.ledger.under_way("aa") == 0
        run.keep(2, DECISION, 0.5, counted=True)
        assert journal.pulled("aa") == (1, 0.5)
        journal.end("aa", STOPPED, "enough")
        assert journal.pulled("aa") == (1, 0.5)
        kept = journal.database.execute("SELECT features FROM pulls ORDER BY number").fetchall()
        assert kept == [(b"",), (None,)]
        again = journal.record("aa")
        again.begin()
        assert again.commits == 2

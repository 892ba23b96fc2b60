"""What was chosen is written down, and cannot become something else in replay."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from lotor.core.effects import Checkpoint, Decided, Decision, Message, Receive, Steps
from lotor.core.errors import JournalError
from lotor.protocols.party import Party
from lotor.runtime.durable import record
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.record import RunRecord


class Never(Message, frozen=True, tag="test/1/never"):
    pass


class Chooser(Party):
    """Chooses these arms, and then waits for ever."""

    def __init__(self, *arms: int) -> None:
        self._arms = arms

    def steps(self) -> Steps[None]:
        yield Checkpoint(lambda: b"")
        for t, arm in enumerate(self._arms, 1):
            yield Decided(Decision.named("aa", t, arm))
        yield Receive("peer", Never)


@pytest.fixture
def disk() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        for statement in record.SCHEMA.split(";"):
            database.execute(statement)
        RunRecord(database, "aa").create(b"")
        yield database


def live(disk: sqlite3.Connection, *arms: int) -> list[str]:
    """One life of a party that ends without a checkpoint; what is on disk then."""
    host = Host("p", lambda _: Chooser(*arms), RunRecord(disk, "aa"), ["peer"], lambda *_: None)
    try:
        host.advance()
    finally:
        host.close()
    return [row for (row,) in disk.execute("SELECT decision FROM pulls ORDER BY number")]


def test_each_decision_is_on_record_once(disk: sqlite3.Connection) -> None:
    assert live(disk, 2) == ["aa/2/1"]
    assert live(disk, 2, 0) == ["aa/2/1", "aa/0/2"]
    assert live(disk, 2, 0, 0) == ["aa/2/1", "aa/0/2", "aa/0/3"]


def test_another_decision_in_replay_ends_it(disk: sqlite3.Connection) -> None:
    live(disk, 2, 0)
    with pytest.raises(JournalError, match="computes differently"):
        live(disk, 2, 1)
    assert live(disk, 2, 0) == ["aa/2/1", "aa/0/2"]

"""What an ended run leaves in its journal, and what it does not."""

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lotor.core.effects import Decision
from lotor.runtime.durable.erasure import Erasure
from lotor.runtime.durable.journal import (
    FINISHED,
    RUNNING,
    STOPPED,
    WAITING,
    Journal,
    RunRow,
)
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.record import RunRecord
from lotor.runtime.durable.run_output import RunOutput
from residue import Residue, watch_journals

PARTY = "lyon (owner)"


@pytest.fixture
def residue(monkeypatch: pytest.MonkeyPatch) -> Residue:
    return watch_journals(monkeypatch)


@pytest.fixture
def journal(residue: Residue, tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path, PARTY)) as opened:
        yield opened


def decision(run: str, t: int) -> Decision:
    return Decision(run=run, round=t, arm=0, id=f"{run}/{t}")


def begun(journal: Journal, run: str) -> RunRecord:
    journal.add(RunRow(run, b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "1", 9), os.urandom(900))
    record = journal.record(run)
    record.begin()
    return record


def lived(record: RunRecord, link: Link, draw: random.Random, pulls: int) -> None:
    """One checkpoint, of sizes that make SQLite move rows from page to page."""
    link.post(os.urandom(draw.choice([50, 200, 1_000, 5_000])))
    if draw.random() < 0.6:
        link.acknowledge(link.sent, 1)
    for number in range(pulls - 4, pulls + 1):
        answer = tuple(draw.random() for _ in range(draw.choice([2, 6, 40])))
        record.keep(number, decision(record.run, number), answer)
    record.checkpoint(
        os.urandom(draw.choice([100, 600, 1_500, 3_000, 9_000])),
        round=pulls,
        pulls=pulls,
        messages_sent=1,
        bytes_sent=1,
        links=[link],
    )


@pytest.mark.parametrize("seed", range(3))
def test_deleted_rows_leave_no_copies(
    tmp_path: Path, residue: Residue, journal: Journal, seed: int
) -> None:
    """SQLite's own overwriting leaves some, where it has moved rows."""
    draw = random.Random(seed)
    runs = {run: (begun(journal, run), Link("comp")) for run in ("a", "b", "c", "d")}
    for step in range(1, 201):
        record, link = runs[draw.choice("abcd")]
        lived(record, link, draw, 5 * step)
    for run in runs:
        journal.end(run, STOPPED, "enough")
    assert len(residue.secret) > 5_000
    assert residue.found([tmp_path]) == {}
    assert not journal.erasure.due


def test_sqlite_overwrites_what_is_deleted_and_puts_nothing_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it was built: between two ends of runs, and while the journal is written anew."""
    connect = sqlite3.connect

    def built_otherwise(path: Any, **options: Any) -> sqlite3.Connection:
        database: sqlite3.Connection = connect(path, **options)
        database.execute("PRAGMA secure_delete = OFF")
        return database

    monkeypatch.setattr(sqlite3, "connect", built_otherwise)
    with closing(Journal(tmp_path, PARTY)) as journal:
        settings = [
            journal.database.execute(f"PRAGMA {name}").fetchone()
            for name in ("secure_delete", "temp_store")
        ]
    assert settings == [(1,), (2,)]  # on, and in memory


def test_other_runs_lose_nothing(tmp_path: Path, residue: Residue, journal: Journal) -> None:
    over, going_on = begun(journal, "a"), begun(journal, "b")
    link = Link("comp")
    lived(over, Link("comp"), random.Random(1), 5)
    residue.secret.clear()
    lived(going_on, link, random.Random(2), 5)
    before = residue.found([tmp_path])
    journal.end("a", STOPPED, "enough")
    saved = RunRecord(journal.database, "b").begin()
    assert saved.snapshot
    assert not saved.finished
    assert saved.links["comp"].outbox == link.outbox
    assert before


def test_the_end_keeps_what_an_operator_asks_for(journal: Journal) -> None:
    record = begun(journal, "a")
    record.keep(1, decision("a", 1), 0.25)
    record.keep(2, None, None)
    record.keep(3, decision("a", 3), 0.75)
    record.keep(4, decision("a", 4), (0.5, 0.25))
    assert journal.pulled("a") == (2, 0.5)
    assert record.commits == 4
    journal.end("a", STOPPED, "enough")
    assert journal.pulled("a") == (2, 0.5)
    assert journal.answered("a", decision("a", 3).id)
    assert journal.run("a").note == "enough"
    # What it had of a result is not the result of a run that was stopped.
    assert journal.output("a") is None
    assert not RunRecord(journal.database, "a").begin().finished


def test_a_finished_run_keeps_its_output_and_what_peers_have_not_received(
    journal: Journal,
) -> None:
    record, link = begun(journal, "a"), Link("comp")
    link.post(b"the last message")
    record.checkpoint(
        None, round=1, pulls=0, messages_sent=1, bytes_sent=1, links=[link], output=RunOutput(2.5)
    )
    journal.finish("a")
    journal.sweep()
    assert journal.output("a") == 2.5
    assert journal.unsettled() == {"a"}
    saved = RunRecord(journal.database, "a").begin()
    assert saved.finished
    assert list(saved.links["comp"].outbox) == [(1, b"the last message")]
    journal.end("a", STOPPED, "comp is gone")
    assert journal.unsettled() == set()
    assert journal.output("a") == 2.5


def test_a_sweep_removes_what_an_ended_run_has_left(
    tmp_path: Path, residue: Residue, journal: Journal
) -> None:
    lived(begun(journal, "a"), Link("comp"), random.Random(1), 5)
    lived(begun(journal, "b"), Link("comp"), random.Random(1), 5)
    journal.stores.of("a").keep(b"0123456789abcdef" * 2)
    journal.change("a", STOPPED, "by a daemon that was killed before it could erase anything")
    journal.change("b", FINISHED, "")
    assert residue.found([tmp_path])
    journal.sweep()
    journal.end("b", STOPPED, "enough")
    assert residue.found([tmp_path]) == {}
    assert not (tmp_path / "store" / "a").exists()


def rewrites(journal: Journal) -> list[str]:
    """Collects how often a journal is written anew from now on."""
    seen: list[str] = []
    journal.database.set_trace_callback(lambda sql: seen.append(sql) if sql == "VACUUM" else None)
    return seen


def test_a_start_with_nothing_to_erase_does_not_write_the_journal_anew(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, PARTY)) as journal:
        for run, state in (("a", STOPPED), ("b", FINISHED)):
            lived(begun(journal, run), Link("comp"), random.Random(1), 5)
            journal.change(run, state, "")
        begun(journal, "c")
        seen = rewrites(journal)
        journal.sweep()
        assert len(seen) == 1
        journal.sweep()
        assert len(seen) == 1
    for count in (0, 0):
        with closing(Journal(tmp_path, PARTY)) as again:
            seen = rewrites(again)
            again.sweep()
            assert len(seen) == count
            assert not again.erasure.due


def test_what_could_not_be_erased_is_erased_by_the_next_process(
    tmp_path: Path, residue: Residue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the log is gone by then, since a process that only read was the last to close it."""
    with closing(Journal(tmp_path, PARTY)) as journal:
        lived(begun(journal, "a"), Link("comp"), random.Random(1), 5)
        with monkeypatch.context() as patch:
            patch.setattr(Erasure, "complete", lambda _: False)
            journal.end("a", STOPPED, "enough")
    assert not (tmp_path / "journal.db-wal").exists()
    with closing(Journal(tmp_path, PARTY)) as again:
        seen = rewrites(again)
        again.sweep()
        assert len(seen) == 1
        assert not again.erasure.due
    assert residue.found([tmp_path]) == {}


def test_the_log_of_a_killed_process_is_erased(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with closing(Journal(here, PARTY)) as journal:
        record = begun(journal, "a")
        journal.end("a", STOPPED, "enough")
        record.keep(1, decision("a", 1), None)  # after that, its process was killed
        shutil.copytree(here, there)
    assert (there / "journal.db-wal").stat().st_size > 0
    with closing(Journal(there, PARTY)) as again:
        seen = rewrites(again)
        again.sweep()
        assert len(seen) == 1


def test_the_end_of_a_run_that_never_began_writes_nothing_anew(journal: Journal) -> None:
    journal.add(RunRow("a", b"", b"", "lyon", WAITING, "", 1.0, 1.0, "1", 9), None)
    seen = rewrites(journal)
    journal.end("a", STOPPED, "enough")
    assert seen == []
    assert not journal.erasure.due

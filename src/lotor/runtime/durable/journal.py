"""A party's journal: one SQLite file with all its runs, and the commands of its operator."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import msgspec

from lotor.core.errors import InputError, JournalError, UnknownRunError
from lotor.core.version import VERSION
from lotor.runtime.durable import command_queue, ledger, pacing, pruning, record
from lotor.runtime.durable.command_queue import CommandQueue
from lotor.runtime.durable.database import connect, errors, unreadable
from lotor.runtime.durable.erasure import Erasure
from lotor.runtime.durable.file_store import Stores
from lotor.runtime.durable.kept_states import KeptStates
from lotor.runtime.durable.ledger import Charge, Ledger
from lotor.runtime.durable.losses import LossRecord
from lotor.runtime.durable.opening import check_journal, check_untouched, lock_folder
from lotor.runtime.durable.pacing import PaceRecord
from lotor.runtime.durable.pruning import Pruning
from lotor.runtime.durable.record import RunRecord
from lotor.runtime.durable.run_output import RunOutput
from lotor.runtime.durable.transaction import transaction

JOURNAL_VERSION = 5
WAITING, RUNNING, FINISHED = "waiting", "running", "finished"
STOPPED, FAILED, REFUSED = "stopped", "failed", "refused"
ENDED = (STOPPED, FAILED, REFUSED)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY,
    announcement BLOB NOT NULL,
    signature BLOB NOT NULL,
    seat TEXT NOT NULL,
    state TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    changed REAL NOT NULL,
    version TEXT NOT NULL,
    budget INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS statuses (
    run TEXT NOT NULL, seat TEXT NOT NULL, status BLOB NOT NULL, PRIMARY KEY (run, seat)
) STRICT;
"""


class RunRow(msgspec.Struct, frozen=True):
    """A run as this party has it. `note` says why it waits or ended."""

    id: str
    announcement: bytes
    signature: bytes
    seat: str
    state: str
    note: str
    created: float
    changed: float
    version: str
    budget: int = 0

    def __repr__(self) -> str:
        return f"<RunRow {self.id}, {self.seat}, {self.state}>"


class Journal:
    """Durable (WAL, synchronous=FULL), private (0600 in a folder of 0700), encrypted with a key."""

    def __init__(self, folder: Path, party: str, key: bytes | None = None) -> None:
        self.path = folder / "journal.db"
        self.stores = Stores(folder / "store", key)
        self._lock: int | None = None
        check_untouched(self.path, key, JOURNAL_VERSION)
        log = self.path.with_name(f"{self.path.name}-wal")
        self._had_log = log.exists() and log.stat().st_size > 0
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            # A copy that was put back may have come with wider permissions.
            os.chmod(self.path, 0o600)
            os.chmod(folder, 0o700)
            self._database = connect(self.path, key)
        except errors(OSError) as error:
            raise JournalError(
                f"no journal can be kept in {folder} ({error}): let `state` in party.toml name a "
                "folder that this user may write"
            ) from None
        try:
            check_journal(self._database, self.path, party, JOURNAL_VERSION)
            self._prepare(party)
        except errors() as error:
            self._database.close()
            raise unreadable(self.path, key, str(error)) from None
        except BaseException:
            self._database.close()
            raise
        self.commands = CommandQueue(self._database)
        self.erasure = Erasure(self._database)
        self.ledger = Ledger(self._database)
        self.pruning = Pruning(self._database, self.erasure)
        self.kept = KeptStates(self._database)

    def _prepare(self, party: str) -> None:
        database = self._database
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        with transaction(database):
            schema = _SCHEMA + command_queue.SCHEMA + record.SCHEMA + ledger.SCHEMA
            schema += pacing.SCHEMA + pruning.SCHEMA
            for statement in schema.split(";"):
                database.execute(statement)
            for key, value in (("journal", str(JOURNAL_VERSION)), ("version", VERSION)):
                database.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
            database.execute("INSERT OR IGNORE INTO meta VALUES ('party', ?)", (party,))
            database.execute(
                "INSERT OR IGNORE INTO meta VALUES (?, ?)", (ledger.SINCE, str(time.time()))
            )

    @property
    def database(self) -> sqlite3.Connection:
        return self._database

    def close(self) -> None:
        self._database.close()
        self.unlock()

    def unlock(self) -> None:
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def lock(self) -> bool:
        """Become the one process that drives this party; False when another one does."""
        handle = lock_folder(self.path.parent)
        if handle is None:
            return False
        self._lock = handle
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        return True

    def driver(self) -> int | None:
        """The other process that drives this party, as far as it is known."""
        if self._lock is not None:
            return None
        try:
            return int(self.path.with_name("journal.lock").read_text())
        except (OSError, ValueError):
            return None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of the block or nothing; within another transaction, it is part of that one."""
        inside = self._database.in_transaction
        with nullcontext() if inside else transaction(self._database):
            yield

    def add(
        self,
        row: RunRow,
        snapshot: bytes | None,
        *,
        repeatable: bool = False,
        charge: Charge | None = None,
        continues: str = "",
    ) -> None:
        """Write a new run down, with the party's first snapshot unless it waits for approval.

        If it starts, it is charged: its budget, if nothing more is known of it. It may be one that
        `continues` another.
        """
        with self.transaction():
            self.pruning.check_new(row.id)
            self._database.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                msgspec.structs.astuple(row),
            )
            if continues:
                self.kept.note(row.id, continues)
            if snapshot is not None:
                RunRecord(self._database, row.id).create(snapshot, repeatable=repeatable)
                cost = charge or Charge(pulls=row.budget)
                self.ledger.charge(row.id, cost, approved=False)

    def begin(
        self, run: str, snapshot: bytes, *, repeatable: bool = False, charge: Charge | None = None
    ) -> None:
        """A waiting run starts, since a person approved it, and is charged as in `add`."""
        with self.transaction():
            RunRecord(self._database, run).create(snapshot, repeatable=repeatable)
            cost = charge or Charge(pulls=self.run(run).budget)
            self.ledger.charge(run, cost, approved=True)
            self._change(run, RUNNING, "")

    def change(self, run: str, state: str, note: str) -> None:
        with self.transaction():
            self._change(run, state, note)

    def _change(self, run: str, state: str, note: str) -> None:
        self._database.execute(
            "UPDATE runs SET state = ?, note = ?, changed = ? WHERE id = ?",
            (state, note, time.time(), run),
        )
        self._settle(run, state)

    def _settle(self, run: str, state: str) -> None:
        """A run that ended early is charged the pulls that it used, while they are known."""
        if state == FINISHED:
            self.ledger.settle(run, None)
        elif state in ENDED:
            answered, _ = self.pulled(run)
            self.ledger.settle(run, answered + self.ledger.under_way(run))

    def end(self, run: str, state: str, note: str) -> None:
        """A run ends early: nobody needs its secrets, nor what it has not delivered.

        Nothing is kept of it, though it may have come to its end here.
        """
        with self.transaction():
            self._change(run, state, note)
            self.keep_nothing(run)
            self.erasure.forget(run)
            self.erasure.forget_undelivered(run)
        self.erasure.complete()

    def finish(self, run: str) -> None:
        """A run has come to its end; peers may still need its last messages."""
        with self.transaction():
            self._change(run, FINISHED, "")
            self.erasure.forget(run)

    def keep_nothing(self, run: str) -> None:
        """A run has ended without a result elsewhere, so that it cannot be continued."""
        with self.transaction():
            if self.kept.remove(run):
                self.erasure.mark()

    def sweep(self) -> None:
        """Remove whatever runs that have ended left behind, if they were cut off in doing so."""
        rows = self.runs()
        self.stores.sweep([row.id for row in rows if row.state in (RUNNING, WAITING)])
        over = [row for row in rows if row.state in (*ENDED, FINISHED)]
        if over:
            with self.transaction():
                for row in over:
                    self.erasure.forget(row.id)
                    if row.state != FINISHED:
                        self.erasure.forget_undelivered(row.id)
            if self._had_log:  # of a process that was killed
                self.erasure.mark()
                self._had_log = False
            self.erasure.complete()

    def runs(self) -> list[RunRow]:
        rows = self._database.execute("SELECT * FROM runs ORDER BY created, id")
        return [RunRow(*row) for row in rows]

    def run(self, prefix: str) -> RunRow:
        """The run whose id begins so; an empty beginning, as of an unset variable, names none."""
        if not prefix:
            raise InputError(
                "the id of a run is empty: give the id or its beginning, as `lotor runs list` "
                "shows it"
            )
        found = [row for row in self.runs() if row.id.startswith(prefix)]
        if len(found) != 1:
            what, kind = f"{len(found)} runs", InputError
            if not found:
                what, kind = "no run", UnknownRunError
            raise kind(f"{what} here whose id begins with {prefix!r}: `lotor runs list` shows them")
        return found[0]

    def states(self) -> dict[str, int]:
        """How many runs are in each state."""
        return dict(self._database.execute("SELECT state, count(*) FROM runs GROUP BY state"))

    def output(self, run: str) -> object:
        """The party's own output in a finished run."""
        return self.all_output(run).output

    def all_output(self, run: str) -> RunOutput:
        """The same, and what else it knows of the result."""
        row = self._database.execute(
            "SELECT output FROM progress WHERE run = ? AND finished", (run,)
        ).fetchone()
        return RunOutput.from_json(None if row is None else row[0])

    def progress(self, run: str) -> tuple[int, int, int]:
        """As of the last checkpoint: the round, messages and bytes sent."""
        row = self._database.execute(
            "SELECT round, messages_sent, bytes_sent FROM progress WHERE run = ?", (run,)
        ).fetchone()
        return (0, 0, 0) if row is None else row

    def record(self, run: str) -> RunRecord:
        return RunRecord(self._database, run)

    def pacing(self, run: str) -> PaceRecord:
        """When the rounds of a run may begin."""
        return PaceRecord(self._database, run)

    def losses(self, run: str) -> LossRecord:
        """Who has left a run for good, and who agrees to whose leaving."""
        return LossRecord(self._database, run)

    def find(self, run: str) -> RunRow | None:
        row = self._database.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        return None if row is None else RunRow(*row)

    def answered(self, run: str, decision: str) -> bool:
        """Whether the reward of a decision is known."""
        row = self._database.execute(
            "SELECT 1 FROM pulls WHERE run = ? AND decision = ? AND answered", (run, decision)
        ).fetchone()
        return row is not None

    def unsettled(self) -> set[str]:
        """The runs that have messages which no peer has acknowledged."""
        rows = self._database.execute("SELECT DISTINCT run FROM outbox")
        return {run for (run,) in rows}

    def pulled(self, run: str) -> tuple[int, float | None]:
        """How often this party was asked in a run, and the mean of its rewards, if it has any."""
        asked, paid, mean = self._database.execute(
            "SELECT count(*), count(reward), avg(reward) FROM pulls "
            "WHERE run = ? AND answered AND decision IS NOT NULL",
            (run,),
        ).fetchone()
        kept = self._database.execute(
            "SELECT paid, mean FROM progress WHERE run = ? AND paid IS NOT NULL", (run,)
        ).fetchone()
        if kept is not None:
            paid, mean = kept  # the run has ended, and its rewards are gone
        # A party that is asked for rewards may be asked for features, too.
        return paid or asked, mean

    def open_decisions(self, run: str) -> int:
        """How many decisions of a run that goes on have no outcome yet."""
        (count,) = self._database.execute(
            "SELECT count(*) FROM decisions JOIN runs ON runs.id = run "
            "WHERE run = ? AND told IS NULL AND counted IS NULL AND paid_here AND round > 0 "
            "AND state = ?",
            (run, RUNNING),
        ).fetchone()
        return int(count)

    def keep_status(self, run: str, seat: str, status: bytes) -> None:
        with self.transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO statuses VALUES (?, ?, ?)", (run, seat, status)
            )

    def statuses(self, run: str) -> dict[str, bytes]:
        rows = self._database.execute("SELECT seat, status FROM statuses WHERE run = ?", (run,))
        return dict(rows.fetchall())

    def changes(self) -> int:
        """A number that changes when another process has written."""
        (version,) = self._database.execute("PRAGMA data_version").fetchone()
        return int(version)

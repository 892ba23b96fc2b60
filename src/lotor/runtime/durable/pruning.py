"""Runs that are over leave the journal for good; what they have cost stays, and that there were.

A run is removed from all tables in one transaction. What is left is its entry in the ledger, so
that no budget comes back, and a row that says how it stood: an old announcement starts nothing.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from typing import Final

from lotor.core.errors import JournalError
from lotor.runtime.durable.erasure import Erasure
from lotor.runtime.durable.transaction import transaction

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS pruned (
    run TEXT PRIMARY KEY, state TEXT NOT NULL, moment REAL NOT NULL
) STRICT;
"""

RUN_TABLES: Final[Mapping[str, str]] = {
    "runs": "id",
    "statuses": "run",
    "progress": "run",
    "links": "run",
    "pulls": "run",
    "outbox": "run",
    "decisions": "run",
    "settling": "run",
    "pacing": "run",
    "taken": "run",
    "exclusions": "run",
    "agreements": "run",
    "commands": "run",
    "impossible": "run",
    "sought": "run",
    "kept": "run",
    "continued": "run",
}
"""Every table with rows of single runs, and its column with the run's id."""

KEPT_TABLES: Final = frozenset({"meta", "ledger", "pruned"})
"""The tables that pruning leaves as they are, or adds to."""

_NOT_CARRIED_OUT: Final = """
SELECT count(*) FROM decisions JOIN runs ON runs.id = run WHERE run = ? AND state = 'finished'
AND NOT paid_here AND taken IS NULL AND told IS NULL AND counted IS NULL AND round > 0
"""


class Pruning:
    """What has been pruned from one journal, and what may be."""

    def __init__(self, database: sqlite3.Connection, erasure: Erasure) -> None:
        self._database = database
        self._erasure = erasure

    def state(self, run: str) -> str | None:
        """How a run stood that was pruned; None if none was under this id."""
        row = self._database.execute("SELECT state FROM pruned WHERE run = ?", (run,)).fetchone()
        return None if row is None else str(row[0])

    def check_new(self, run: str) -> None:
        """Refuse to begin a run that has been pruned: it would be carried out a second time."""
        if (state := self.state(run)) is not None:
            raise JournalError(
                f"run {run} is {state} and has been pruned here: no run begins twice, so order a "
                "new one"
            )

    def obstacle(self, run: str) -> str | None:
        """Why a run cannot be pruned, as the end of a sentence; None if it can."""
        row = self._database.execute("SELECT state FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            return "is not here"
        if row[0] in ("waiting", "running"):
            return f"is {row[0]}: `lotor runs stop` ends it for all"
        if self._count("SELECT count(*) FROM outbox WHERE run = ?", run):
            return (
                "has messages that its peers have not received: serve this party until they have, "
                "or drop them by `lotor runs stop`"
            )
        if self._count(_NOT_CARRIED_OUT, run):
            return (
                "has decisions that nobody has carried out: `lotor decisions list` shows them, and "
                "`lotor decisions take` takes them"
            )
        return None

    def _count(self, question: str, run: str) -> int:
        (count,) = self._database.execute(question, (run,)).fetchone()
        return int(count)

    def prune(self, runs: Iterable[str]) -> None:
        """Remove runs; their copies leave the files when the erasure is completed."""
        with transaction(self._database):
            for run in runs:
                if (why := self.obstacle(run)) is not None:
                    raise JournalError(f"run {run} cannot be pruned, since it {why}")
                self._database.execute(
                    "INSERT INTO pruned SELECT id, state, ? FROM runs WHERE id = ?",
                    (time.time(), run),
                )
                for table, column in RUN_TABLES.items():
                    remove = f"DELETE FROM {table} WHERE {column} = ?"  # noqa: S608
                    self._database.execute(remove, (run,))
            self._erasure.mark()

"""The commands of a party's operator to its daemon, written to the journal by another process.

A command that asks for a run under a new id starts that run; all others are about a known run.
"""

import sqlite3
import time
from collections.abc import Collection
from contextlib import nullcontext

from lotor.runtime.durable.transaction import transaction

SCHEMA = """
CREATE TABLE IF NOT EXISTS impossible (run TEXT PRIMARY KEY, note TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS commands (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, command BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sought (
    run TEXT NOT NULL, party TEXT NOT NULL, since REAL NOT NULL, PRIMARY KEY (run, party)
) STRICT;
"""


class CommandQueue:
    """The commands that wait, in order, and why a run that was asked for could not start."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, run: str, command: bytes) -> None:
        with transaction(self._database):
            self._database.execute(
                "INSERT INTO commands (run, command) VALUES (?, ?)", (run, command)
            )

    def waiting(self) -> list[tuple[int, str, bytes]]:
        """The number of each command, its run, and the command."""
        return self._database.execute(
            "SELECT id, run, command FROM commands ORDER BY id"
        ).fetchall()

    def done(self, command: int, impossible: tuple[str, str] | None = None) -> None:
        """A command is carried out, or cannot be: (run, why).

        Within another transaction it is part of that one: both are done, or neither.
        """
        inside = self._database.in_transaction
        with nullcontext() if inside else transaction(self._database):
            if impossible is not None:
                self._database.execute(
                    "INSERT OR REPLACE INTO impossible VALUES (?, ?)", impossible
                )
            self._database.execute("DELETE FROM commands WHERE id = ?", (command,))

    def seek(self, run: str, parties: Collection[str]) -> None:
        """Write down which members of a run that was asked for are still to be found."""
        now = time.time()
        with transaction(self._database):
            for party in self.sought(run).keys() - set(parties):
                self._database.execute(
                    "DELETE FROM sought WHERE run = ? AND party = ?", (run, party)
                )
            self._database.executemany(
                "INSERT OR IGNORE INTO sought VALUES (?, ?, ?)",
                [(run, party, now) for party in parties],
            )

    def sought(self, run: str) -> dict[str, float]:
        """The members that are to be found, or were not found in time: each since when."""
        rows = self._database.execute(
            "SELECT party, since FROM sought WHERE run = ? ORDER BY party", (run,)
        )
        return dict(rows.fetchall())

    def new_runs(self) -> list[str]:
        """The runs that were asked for and have not started."""
        rows = self._database.execute(
            "SELECT DISTINCT run FROM commands WHERE run NOT IN (SELECT id FROM runs)"
        )
        return [run for (run,) in rows]

    def asks_for(self, run: str) -> bool:
        """Whether a command about this run waits."""
        row = self._database.execute("SELECT 1 FROM commands WHERE run = ?", (run,)).fetchone()
        return row is not None

    def withdraw(self, run: str) -> bool:
        """Take back the command for a run that has not started; False when there is none."""
        with transaction(self._database):
            gone = self._database.execute(
                "DELETE FROM commands WHERE run = ? AND NOT EXISTS "
                "(SELECT 1 FROM runs WHERE runs.id = commands.run)",
                (run,),
            )
            if gone.rowcount > 0:
                self._database.execute("DELETE FROM sought WHERE run = ?", (run,))
        return gone.rowcount > 0

    def impossible(self, run: str) -> str | None:
        """Why a run that was asked for could not start."""
        row = self._database.execute("SELECT note FROM impossible WHERE run = ?", (run,)).fetchone()
        return None if row is None else str(row[0])

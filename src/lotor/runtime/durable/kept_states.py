"""What a party keeps of runs that have ended, for runs that continue them: sealed, in its journal.

It is written in the transaction that ends the party's part of the run, and stays until a person
removes the run.
"""

import sqlite3
from dataclasses import dataclass

SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (
    run TEXT PRIMARY KEY, sealed BLOB NOT NULL, since REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS continued (
    run TEXT PRIMARY KEY, earlier TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS continued_runs ON continued (earlier);
"""


@dataclass(frozen=True, slots=True)
class KeptState:
    """How much is kept of a run, in bytes, and since when."""

    size: int
    since: float


class KeptStates:
    """One journal's kept states, by run."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def sealed(self, run: str) -> bytes | None:
        """What is kept of a run, as it was sealed."""
        row = self._database.execute("SELECT sealed FROM kept WHERE run = ?", (run,)).fetchone()
        return None if row is None else bytes(row[0])

    def about(self, run: str) -> KeptState | None:
        row = self._database.execute(
            "SELECT length(sealed), since FROM kept WHERE run = ?", (run,)
        ).fetchone()
        return None if row is None else KeptState(*row)

    def remove(self, run: str) -> bool:
        """Keep nothing of a run; part of the caller's transaction. False if nothing was kept."""
        return bool(self._database.execute("DELETE FROM kept WHERE run = ?", (run,)).rowcount)

    def note(self, run: str, earlier: str) -> None:
        """Write down which run another one continues; part of the caller's transaction."""
        self._database.execute("INSERT INTO continued VALUES (?, ?)", (run, earlier))

    def continued_by(self, run: str) -> list[str]:
        """The runs that continue a run, in their order."""
        rows = self._database.execute(
            "SELECT run FROM continued WHERE earlier = ? ORDER BY rowid", (run,)
        )
        return [name for (name,) in rows]

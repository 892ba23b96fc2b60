"""One run's decisions whose outcomes come later, and which outcomes were counted when."""

import sqlite3
import time
from collections.abc import Iterable

from lotor.core.effects import Decision, KnownOutcome
from lotor.runtime.durable.transaction import transaction

# `counted` is the round before which a party took an outcome into account, or settled without it,
# where it has not been told. An outcome that is told without a reward is lost. Where it is not
# `paid_here`, a decision is only carried out here, and another party hears of its outcome. Without
# the indexes, a look at the table would take longer the more often this party was pulled.
SCHEMA = """
CREATE TABLE IF NOT EXISTS decisions (
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    round INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    since REAL NOT NULL,
    taken REAL,
    told REAL,
    reward REAL,
    counted INTEGER,
    paid_here INTEGER NOT NULL,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS open_decisions ON decisions (run)
    WHERE told IS NULL AND counted IS NULL;
CREATE INDEX IF NOT EXISTS outcomes_to_count ON decisions (run, round)
    WHERE told IS NOT NULL AND counted IS NULL;
CREATE TABLE IF NOT EXISTS settling (run TEXT PRIMARY KEY, since REAL NOT NULL) STRICT;
"""


class RunOutcomes:
    """What a party's host needs of them; each change is part of the caller's transaction."""

    def __init__(self, database: sqlite3.Connection, run: str) -> None:
        self._database = database
        self._run = run

    def issue(self, decision: Decision, *, paid_here: bool = True) -> None:
        """A decision appears; the second time nothing changes."""
        self._database.execute(
            "INSERT OR IGNORE INTO decisions (run, id, round, arm, since, paid_here) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (self._run, decision.id, decision.round, decision.arm, time.time(), paid_here),
        )

    def issue_none(self) -> None:
        """As much work as for a decision, so that time does not tell whether there was one.

        A row of round 0, which every look passes over, in the same table and the same index: the
        disk then writes as many pages.
        """
        self._database.execute(
            "INSERT OR REPLACE INTO decisions (run, id, round, arm, since, paid_here) "
            "VALUES (?, '', 0, 0, ?, 0)",
            (self._run, time.time()),
        )

    def told(self, decision: str) -> KnownOutcome | None:
        """The outcome of a decision; None while it is not known."""
        row = self._database.execute(
            "SELECT round, reward FROM decisions WHERE run = ? AND id = ? AND told IS NOT NULL",
            (self._run, decision),
        ).fetchone()
        return None if row is None else KnownOutcome(*row)

    def arrived(self) -> tuple[KnownOutcome, ...]:
        """The outcomes that have been told and not counted, in the order of their rounds."""
        rows = self._database.execute(
            "SELECT round, reward FROM decisions "
            "WHERE run = ? AND told IS NOT NULL AND counted IS NULL ORDER BY round",
            (self._run,),
        )
        return tuple(KnownOutcome(*row) for row in rows)

    def count(self, t: int, decisions: Iterable[Decision]) -> None:
        """What is known of these decisions is taken into account before round t."""
        self._database.executemany(
            "UPDATE decisions SET counted = ? WHERE run = ? AND id = ?",
            [(t, self._run, one.id) for one in decisions],
        )

    def counted(self, t: int) -> tuple[KnownOutcome, ...]:
        """What was taken into account before round t, in the order of the rounds."""
        rows = self._database.execute(
            "SELECT round, reward FROM decisions "
            "WHERE run = ? AND counted = ? AND told IS NOT NULL ORDER BY round",
            (self._run, t),
        )
        return tuple(KnownOutcome(*row) for row in rows)

    def waited(self, seconds: float) -> bool:
        """Whether all that is missing has been waited for so long; that begins with the first call.

        A restart does not begin it anew.
        """
        return time.time() >= self._settling_since() + seconds

    def _settling_since(self) -> float:
        row = self._database.execute(
            "SELECT since FROM settling WHERE run = ?", (self._run,)
        ).fetchone()
        if row is not None:
            return float(row[0])
        now = time.time()
        with transaction(self._database):
            self._database.execute("INSERT INTO settling VALUES (?, ?)", (self._run, now))
        return now

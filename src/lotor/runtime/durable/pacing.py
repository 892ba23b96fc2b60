"""When a run's rounds may begin, on disk: what its opener has granted, and who has paused it."""

import sqlite3

import msgspec

SCHEMA = """
CREATE TABLE IF NOT EXISTS pacing (
    run TEXT PRIMARY KEY,
    granted INTEGER NOT NULL DEFAULT 0,
    signature BLOB NOT NULL DEFAULT x'',
    begun INTEGER NOT NULL DEFAULT 0,
    began REAL NOT NULL DEFAULT 0,
    passed INTEGER NOT NULL DEFAULT 0,
    paused REAL
) STRICT;
"""


class SavedPace(msgspec.Struct, frozen=True):
    """What is known of a run's rounds at one party; of a new run, nothing.

    So many rounds are `granted`, with the opener's `signature`. Round `begun` had begun, at the
    moment `began`, and the boundary `passed` was behind the party when this was last written.
    `paused` is since when this party's operator has paused it.
    """

    granted: int = 0
    signature: bytes = b""
    begun: int = 0
    began: float = 0.0
    passed: int = 0
    paused: float | None = None

    def __repr__(self) -> str:
        return f"<SavedPace, {self.granted} granted, round {self.begun} begun>"


class PaceRecord:
    """One run's row; every change is part of the caller's transaction."""

    def __init__(self, database: sqlite3.Connection, run: str) -> None:
        self._database = database
        self._run = run

    def read(self) -> SavedPace:
        row = self._database.execute(
            "SELECT granted, signature, begun, began, passed, paused FROM pacing WHERE run = ?",
            (self._run,),
        ).fetchone()
        return SavedPace() if row is None else SavedPace(*row)

    def grant(self, rounds: int, signature: bytes) -> None:
        """So many rounds may have begun; a lower number than before changes nothing."""
        self._change(
            "UPDATE pacing SET granted = :granted, signature = :signature "
            "WHERE run = :run AND granted < :granted",
            granted=rounds,
            signature=signature,
        )

    def begin(self, t: int, moment: float) -> None:
        """Round t begins at this moment."""
        self._change(
            "UPDATE pacing SET begun = :begun, began = :began WHERE run = :run AND begun < :begun",
            begun=t,
            began=moment,
        )

    def reach(self, begun: int, passed: int) -> None:
        """The party is so far when somebody pauses the run: it need not stop before that again."""
        self._change(
            "UPDATE pacing SET begun = max(begun, :begun), passed = max(passed, :passed) "
            "WHERE run = :run",
            begun=begun,
            passed=passed,
        )

    def pause(self, since: float | None) -> None:
        """This party's operator pauses it, or (None) lets it go on."""
        self._change("UPDATE pacing SET paused = :paused WHERE run = :run", paused=since)

    def _change(self, statement: str, **values: object) -> None:
        self._database.execute("INSERT OR IGNORE INTO pacing (run) VALUES (?)", (self._run,))
        self._database.execute(statement, {"run": self._run, **values})

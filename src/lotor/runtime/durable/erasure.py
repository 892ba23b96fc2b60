"""What becomes of a run's secrets when it ends: they leave all files of the journal."""

import logging
import sqlite3

from lotor.runtime.durable.database import BUSY_SECONDS, errors
from lotor.runtime.durable.transaction import unwritable

_log = logging.getLogger("lotor.daemon")

_KEEP_MEAN = """
UPDATE progress SET (paid, mean) = (
    SELECT count(reward), avg(reward) FROM pulls
    WHERE pulls.run = progress.run AND answered AND decision IS NOT NULL
) WHERE run = ? AND paid IS NULL
"""
_DROP_SNAPSHOT = "UPDATE progress SET snapshot = NULL WHERE run = ? AND snapshot IS NOT NULL"
# An empty blob still says that the question was one for features.
_DROP_ANSWERS = """
UPDATE pulls SET reward = NULL, features = iif(features IS NULL, NULL, x'')
WHERE run = ? AND (reward IS NOT NULL OR length(features) > 0)
"""
_DROP_TAKEN = "DELETE FROM taken WHERE run = ?"
_DROP_OUTCOMES = "UPDATE decisions SET reward = NULL WHERE run = ? AND reward IS NOT NULL"


class Erasure:
    """Removes what ended runs have left; `due` while there may still be something.

    The journal keeps `due` as SQLite's `user_version`, for the process that comes after this one.

    SQLite leaves copies of what it has deleted: in the log beside the journal, in free pages and,
    where it has moved rows, in the unused parts of pages, which `secure_delete` does not clear.
    Only a journal that is written anew holds nothing but its rows.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        (due,) = database.execute("PRAGMA user_version").fetchone()
        self.due = bool(due)
        self._rewritten = False
        self._warned = False

    def forget(self, run: str) -> None:
        """Drop the secrets of a run that is over; part of the caller's transaction.

        Its counts, its decisions, the mean of its rewards and its output stay.
        """
        self._change((_KEEP_MEAN, _DROP_SNAPSHOT, _DROP_ANSWERS, _DROP_TAKEN, _DROP_OUTCOMES), run)

    def forget_undelivered(self, run: str) -> None:
        """Drop a run's messages, which nobody will ask for any more, and its operator's commands.

        Part of the caller's transaction.
        """
        deletions = ("DELETE FROM outbox WHERE run = ?", "DELETE FROM commands WHERE run = ?")
        self._change(deletions, run)

    def _change(self, statements: tuple[str, ...], run: str) -> None:
        changed = [self._database.execute(one, (run,)).rowcount for one in statements]
        if any(changed):
            self.mark()

    def mark(self) -> None:
        """Something of an ended run was deleted: its copies are to be removed."""
        try:
            self._database.execute("PRAGMA user_version = 1")
        except errors() as error:
            raise unwritable(error) from error
        self.due, self._rewritten = True, False

    def complete(self) -> bool:
        """Remove all copies, if there may be any; False when it must be tried again.

        It cannot be done while another process reads or writes the journal, and nobody waits for
        that here: the daemon tries again.
        """
        if not self.due:
            return True
        self._database.execute("PRAGMA busy_timeout = 0")
        try:
            if not self._rewritten:
                self._database.execute("VACUUM")
                # From here on, all copies are in the log.
                self._database.execute("PRAGMA user_version = 0")
                self._rewritten = True
            (busy, *_) = self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except errors() as error:
            self._warn(str(error))
            return False
        finally:
            self._database.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        if busy:
            self._warn("another process reads it")
            return False
        self.due = self._warned = False
        return True

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            _log.warning(
                "the journal still holds deleted data of a run that has ended (%s): this is tried "
                "again until it is done",
                why,
                extra={"event": "not-erased"},
            )

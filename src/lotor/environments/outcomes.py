"""Outcomes that were recorded beforehand, in an SQLite table."""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from numbers import Real
from pathlib import Path

from lotor.core.effects import Decision
from lotor.core.errors import DataError, InputError
from lotor.core.vectors import to_items
from lotor.environments.rating_files import to_path

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
# Seconds until another program that writes to the same file counts as stuck.
_PATIENCE = 30.0


class Outcomes:
    """A pull function that gives each recorded outcome to one decision for ever.

    A decision that was answered before gets the same answer again, even after a crash at any
    moment, so an owner may declare this function repeatable. The table has the columns number
    (INTEGER PRIMARY KEY), reward (REAL NOT NULL) and decision (TEXT UNIQUE, empty until the
    outcome is used).

    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> pull = Outcomes.create(Path(folder.name, "patients.db"), [1.0, 0.0, 1.0])
    >>> pull(Decision.named("run", 1, arm=0)), pull(Decision.named("run", 4, arm=0))
    (1.0, 0.0)
    >>> Outcomes(pull.path)(Decision.named("run", 1, arm=0))
    1.0
    >>> pull.asked()
    [('run/0/1', 1.0), ('run/0/4', 0.0)]
    >>> folder.cleanup()
    """

    def __init__(self, path: Path | str, table: str = "outcomes") -> None:
        if not isinstance(table, str) or not _IDENTIFIER.fullmatch(table):
            raise InputError(
                f"{table!r} cannot be a table's name: use letters, digits and _, and no digit first"
            )
        # The process may change its folder later.
        self.path = to_path(path).absolute()
        self.table = table

    @classmethod
    def create(
        cls, path: Path | str, rewards: Iterable[float], table: str = "outcomes"
    ) -> "Outcomes":
        """Make the table, in a new file or in one that has no such table yet."""
        outcomes = cls(path, table)
        given = to_items("the rewards", rewards, "a list with each recorded outcome")
        rows = [(_checked(reward, f"reward {i}"),) for i, reward in enumerate(given, 1)]
        if not rows:
            raise InputError("there are no rewards: give one for each recorded outcome")
        with _private_file(outcomes.path), outcomes._transaction() as connection:
            connection.execute(
                outcomes._sql(
                    "CREATE TABLE {} (number INTEGER PRIMARY KEY, reward REAL NOT NULL, "
                    "decision TEXT UNIQUE)"
                )
            )
            connection.executemany(outcomes._sql("INSERT INTO {} (reward) VALUES (?)"), rows)
        return outcomes

    def __call__(self, decision: Decision) -> float:
        """The outcome of this decision: the one that it had before, else the next unused one."""
        with self._transaction() as connection:
            return self._answer(connection, decision.id)

    def _answer(self, connection: sqlite3.Connection, decision: str) -> float:
        had = connection.execute(
            self._sql("SELECT number, reward FROM {} WHERE decision = ? LIMIT 2"), (decision,)
        ).fetchall()
        if len(had) > 1:
            raise DataError(
                f"{self} has two outcomes for decision {decision}: it was altered; restore it from "
                "a backup and declare its column decision UNIQUE"
            )
        number, reward = had[0] if had else self._next_free(connection)
        if not had:
            connection.execute(
                self._sql("UPDATE {} SET decision = ? WHERE number = ?"), (decision, number)
            )
        return _checked(reward, f"{self}: the reward in row {number}")

    def _next_free(self, connection: sqlite3.Connection) -> tuple[object, object]:
        row: tuple[object, object] | None = connection.execute(
            self._sql(
                "SELECT number, reward FROM {} WHERE decision IS NULL ORDER BY number LIMIT 1"
            )
        ).fetchone()
        if row is None:
            (count,) = connection.execute(self._sql("SELECT count(*) FROM {}")).fetchone()
            raise DataError(
                f"{self} is used up: each of its {count} outcomes belongs to a decision; add new "
                "outcomes to it or agree to smaller budgets"
            )
        return row

    def check(self) -> None:
        """Raise DataError unless the next decision could be answered; `lotor doctor` calls this."""
        with self._transaction() as connection:
            connection.execute(self._sql("SELECT decision FROM {} LIMIT 1"))
            number, reward = self._next_free(connection)
            _checked(reward, f"{self}: the reward in row {number}")

    def asked(self) -> list[tuple[str, float]]:
        """Decision ids and their rewards in the order of the table, for audits."""
        with self._transaction() as connection:
            rows = connection.execute(
                self._sql(
                    "SELECT decision, reward FROM {} WHERE decision IS NOT NULL ORDER BY number"
                )
            ).fetchall()
        return [(str(decision), _checked(reward, f"{self}: a reward")) for decision, reward in rows]

    def __str__(self) -> str:
        return f"table {self.table} of {self.path}"

    def __repr__(self) -> str:
        return f"Outcomes({str(self.path)!r}, table={self.table!r})"

    def _sql(self, statement: str) -> str:
        # SQL has no parameters for names; this one was checked, and quotes allow words of SQL.
        return statement.format(f'"{self.table}"')

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all or nothing, and on the disk when it returns.

        Each transaction has its own connection, which is safe in every thread and after a fork, and
        costs little beside the write to the disk.
        """
        try:
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None
            )
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        try:
            # With FULL alone a power cut can still undo the last commit.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        finally:
            connection.close()

    def _unusable(self, error: sqlite3.Error) -> DataError:
        return DataError(
            f"cannot use {self} ({error}): check the path, that the columns are number, reward and "
            "decision, and that no other program holds the file; Outcomes.create makes a new table"
        )


def _checked(reward: object, what: str) -> float:
    """A finite number; the reward itself is the owner's secret and stays out of the message."""
    try:
        number = float(reward) if isinstance(reward, Real) else nan
    except OverflowError:
        number = nan
    if isfinite(number):
        return number
    raise DataError(f"{what} is not a finite number: correct it")


@contextmanager
def _private_file(path: Path) -> Iterator[None]:
    """A file that only its owner may read; a new one is removed again after an error."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        yield
        return
    except OSError as error:
        raise DataError(f"cannot make {path} ({error.strerror}): check the folder") from None
    try:
        yield
    except BaseException:
        path.unlink()
        raise

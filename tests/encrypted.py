"""Encrypted journals for suites that were written for plain ones."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from sqlite3.dump import _iterdump  # type: ignore[attr-defined]

from lotor.runtime.durable.database import connect

KEY = bytes(range(100, 132))


def dumped(database: sqlite3.Connection) -> Iterator[str]:
    """What `iterdump` gives, which SQLCipher's connections do not have."""
    return _iterdump(database)  # type: ignore[no-any-return]


def all_rows(database: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """The rows of each table, by the statement that made it."""
    tables = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {
        sql: sorted(database.execute(f"SELECT * FROM {name}").fetchall(), key=repr)  # noqa: S608
        for name, sql in tables
    }


def encrypted_disks(folder: Path) -> Callable[[], sqlite3.Connection]:
    """What makes a new encrypted database in a folder, set up as a journal."""
    numbers = count()

    def make() -> sqlite3.Connection:
        database = connect(folder / f"{next(numbers)}.db", KEY)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        return database

    return make

"""Looks in files for whatever was ever written to journals of what no run may leave behind."""

import sqlite3
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WIDTH = 16
# Fewer different bytes are text or zeros, which may be anywhere.
LEAST_BYTES = 10
OVERWRITE = "PRAGMA secure_delete = ON"
SECRET_TABLES = ("progress", "outbox", "pulls", "commands")


def windows(data: bytes, step: int = 1) -> set[bytes]:
    return {data[at : at + WIDTH] for at in range(0, len(data) - WIDTH + 1, step)}


class Pieces:
    """Looks for pieces anywhere in data, only where one begins with the same three bytes."""

    def __init__(self, pieces: set[bytes]) -> None:
        self._pieces = pieces
        self._begins = np.zeros(1 << 24, np.bool_)
        self._begins[[int.from_bytes(one[:3]) for one in pieces]] = True

    def within(self, data: bytes) -> int:
        """How many there are in it."""
        octets = np.frombuffer(data, np.uint8).astype(np.uint32)
        begins = octets[:-2] << 16 | octets[1:-1] << 8 | octets[2:]
        places = np.flatnonzero(self._begins[begins]).tolist()
        return len(self._pieces & {data[at : at + WIDTH] for at in places})


@dataclass(repr=False)
class Residue:
    """All that was written to journals, in pieces, apart from what is public."""

    secret: set[bytes] = field(default_factory=set)
    public: set[bytes] = field(default_factory=set)
    numbers: set[float] = field(default_factory=set)

    def note(self, statement: str, values: Iterable[object]) -> None:
        if not statement.startswith(("INSERT", "UPDATE")):
            return
        secret = any(f" {table} " in statement for table in SECRET_TABLES)
        for value in values:
            if isinstance(value, bytes) and secret:
                self.secret |= windows(value, WIDTH)
            elif isinstance(value, bytes):
                self.public |= windows(value)
            elif isinstance(value, float) and secret:
                self.numbers.add(value)

    def found(self, folders: Iterable[Path]) -> dict[str, int]:
        """How many pieces each file below these folders holds."""
        telling = {one for one in self.secret - self.public if len(set(one)) >= LEAST_BYTES}
        pieces = Pieces(telling)
        digits = {struct.pack(">d", one) for one in self.numbers if one != round(one, 3)}
        count = {}
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    try:
                        data = path.read_bytes()
                    except FileNotFoundError:  # a party has tidied up meanwhile
                        continue
                    there = pieces.within(data) + sum(one in data for one in digits)
                    if there:
                        count[str(path)] = there
        return count


def watch_journals(patch: pytest.MonkeyPatch, *, secure_delete: bool = True) -> Residue:
    """Take down what is written to every journal, on an SQLite that overwrites, or does not."""
    residue = Residue()
    connect = sqlite3.connect

    class Watched(sqlite3.Connection):
        def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:
            residue.note(statement, values)
            if statement == OVERWRITE and not secure_delete:
                # Else what a journal asks for would hide that something else is missing.
                statement = "PRAGMA secure_delete = OFF"
            return super().execute(statement, values)

    def watched(path: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        if not str(path).endswith("journal.db"):
            ordinary: sqlite3.Connection = connect(path, *arguments, **options)
            return ordinary
        database: Watched = connect(path, *arguments, **options, factory=Watched)
        sqlite3.Connection.execute(database, f"PRAGMA secure_delete = {secure_delete}")
        return database

    patch.setattr(sqlite3, "connect", watched)
    return residue

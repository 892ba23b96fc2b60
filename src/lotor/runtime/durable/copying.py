"""A copy of a journal that is consistent, also while other processes write to it.

The copy is a file without a name: whatever becomes of this process, the disk does not keep it.
"""

import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from lotor.core.errors import JournalError
from lotor.runtime.durable.database import (
    check_protection,
    errors,
    open_uri,
    unreadable,
)
from lotor.runtime.durable.opening import check_whole, lock_folder, read_meta


def copied_journal(
    path: Path, party: str, *, protected: bool, key: Callable[[], bytes | None]
) -> BinaryIO:
    """A copy of a journal, as encrypted as the journal is; to be closed by the caller.

    `key` is called only where the journal must be read: an encrypted one that no process uses now
    is copied as it is. This process must not have it open itself.
    """
    check_whole(path)
    copy = _copied_at_rest(path) if protected else None
    return _copied_online(path, party, key()) if copy is None else copy


def _copied_at_rest(path: Path) -> BinaryIO | None:
    """The file of a journal that nobody has open; None if somebody has, or may have had."""
    lock = lock_folder(path.parent)
    if lock is None:
        return None
    log = path.with_name(f"{path.name}-wal")
    try:
        if log.exists():  # as long as anybody has the journal open, or has left it without closing
            return None
        copy = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115
        with path.open("rb") as source:
            shutil.copyfileobj(source, copy)
        copy.seek(0)
        same = hashlib.file_digest(copy, "sha256").digest() == _digest(path)
        if not same or log.exists():
            copy.close()
            return None
        copy.seek(0)
        return copy
    finally:
        os.close(lock)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _copied_online(path: Path, party: str, key: bytes | None) -> BinaryIO:
    """SQLite's online backup: a state between two transactions, and nobody has to wait."""
    check_protection(path, key)
    descriptor, made = tempfile.mkstemp(prefix=".journal.copy.", dir=path.parent)
    name, copy = Path(made), os.fdopen(descriptor, "rb")
    try:
        with (
            closing(open_uri(f"file:{quote(str(path))}?mode=rw", key)) as source,
            closing(open_uri(f"file:{quote(str(name))}", key)) as target,
        ):
            _check_party(path, source, party)
            target.execute("PRAGMA journal_mode = OFF")
            target.execute("PRAGMA user_version").fetchone()  # from here on its file is open
            name.unlink()
            source.backup(target)
    except errors() as error:
        copy.close()
        raise unreadable(path, key, str(error)) from None
    except BaseException:
        copy.close()
        raise
    finally:
        name.unlink(missing_ok=True)
    return copy


def _check_party(path: Path, database: sqlite3.Connection, party: str) -> None:
    meta = read_meta(database)
    if meta and meta["party"] != party:
        raise JournalError(
            f"{path} is the journal of {meta['party']}, not of {party}: give each party a state "
            "folder of its own"
        )

"""What is looked at before a journal is opened for writing, and what is refused untouched."""

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from lotor.core.errors import JournalError, VersionError
from lotor.core.version import VERSION
from lotor.runtime.durable.database import check_protection, errors, open_read_only, unreadable

# While it is there, a state folder may hold files under two keys.
REWRITING = "rewriting"


def check_untouched(path: Path, key: bytes | None, version: int) -> None:
    """Refuse what can be refused while the journal is only open for reading.

    Opened for writing, SQLite would move what is in the log beside it into the journal. What
    cannot be read here is for `check_journal` to judge.
    """
    check_whole(path)
    check_protection(path, key)
    if not path.exists():
        return
    try:
        with closing(open_read_only(path, key)) as database:
            _check_version(path, read_meta(database), version)
    except errors():
        return


def check_whole(path: Path) -> None:
    """Refuse a folder whose files are not all under one key."""
    if path.with_name(REWRITING).exists():
        raise JournalError(
            f"protecting {path.parent}, or taking its protection away, was interrupted: run the "
            "same command again, `lotor keys protect` or `lotor keys unprotect`, which completes "
            "it; nothing is lost"
        )


def check_journal(database: sqlite3.Connection, path: Path, party: str, version: int) -> None:
    """Refuse a journal that is damaged or not for this party, before anything is changed."""
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise unreadable(path, None, found)
    meta = read_meta(database)
    if not meta:
        return
    _check_version(path, meta, version)
    if meta["party"] != party:
        raise JournalError(
            f"{path} is the journal of {meta['party']}, not of {party}: give each party "
            "a state folder of its own"
        )


def _check_version(path: Path, meta: dict[str, str], version: int) -> None:
    if meta and meta["journal"] != str(version):
        writer = meta["version"]
        raise VersionError(
            f"{path} was written by lotor {writer} (journal version {meta['journal']}), "
            f"and this lotor {VERSION} only reads journal version {version}; nothing "
            f"was changed: install lotor {writer} to finish the runs in it, or let `state` in "
            "party.toml name a new folder"
        )


def read_meta(database: sqlite3.Connection) -> dict[str, str]:
    """The versions that a journal was written by, and its party; empty in a new journal."""
    if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
        return {}
    return dict(database.execute("SELECT key, value FROM meta").fetchall())


def lock_folder(folder: Path) -> int | None:
    """A handle that keeps other processes from driving this party; None when one does."""
    handle = os.open(folder / "journal.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle

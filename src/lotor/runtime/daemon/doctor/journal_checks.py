"""Checks of a party's state folder and journal, which is only read."""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from lotor.core.errors import JournalError
from lotor.core.version import VERSION
from lotor.runtime.daemon.doctor.findings import DoctorFinding, ok, open_to_others, problem, warning
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.durable.database import (
    check_protection,
    errors,
    open_read_only,
    unreadable,
)
from lotor.runtime.durable.journal import JOURNAL_VERSION
from lotor.runtime.durable.opening import check_whole

JOURNAL, LOCK = "journal.db", "journal.lock"
ENOUGH_SPACE, LEAST_SPACE = 1 << 30, 64 << 20


def check_state(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """The folder: whether it can be written, by this user alone."""
    folder = kit.state
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield problem(
            "state",
            f"nothing can be written to {there}",
            "let `state` in party.toml name a folder that this user may write",
        )
    elif there != folder:
        yield ok("state", f"{folder} is made when the party is served for the first time")
    else:
        paths = [folder, *sorted(folder.glob("journal.*"))]
        complaints = [open_to_others("state", path, private=True) for path in paths]
        yield from filter(None, complaints)
        if not any(complaints):
            yield ok("state", f"{folder} belongs to this user alone")
    yield _space(there)


def _space(folder: Path) -> DoctorFinding:
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 20):,.0f} MiB are free on the disk of {folder}"
    todo = "make room: a party that cannot write its journal stops"
    if free < LEAST_SPACE:
        return problem("disk", text, todo)
    return warning("disk", text, todo) if free < ENOUGH_SPACE else ok("disk", text)


def is_served(kit: ExaminedKit) -> bool:
    """Whether a process drives this party now."""
    try:
        handle = os.open(kit.state / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def check_served(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """A party that orders runs has [members], and is served while it waits for them."""
    if is_served(kit):
        yield ok("served", "a process serves this party")
    elif kit.config is not None and kit.config.members:
        yield ok("served", "not now; `lotor start` and `lotor runs follow` do so while they wait")
    else:
        yield warning("served", "no process serves this party", f"`lotor serve --kit {kit.path}`")


def check_journal(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Whether it is whole, of this version, and this party's."""
    path = kit.state / JOURNAL
    if not path.exists():
        yield ok("journal", "there is none yet")
        return
    if kit.locked:
        return
    try:
        with closing(open_journal(kit)) as database:
            yield from _examined(kit, path, database)
    except JournalError as error:
        yield _unusable(error)
    except errors() as error:
        yield _unusable(unreadable(path, kit.journal_key, str(error)))


def open_journal(kit: ExaminedKit) -> sqlite3.Connection:
    """A kit's journal, to be read; it must exist."""
    path = kit.state / JOURNAL
    check_whole(path)
    check_protection(path, kit.journal_key)
    return open_read_only(path, kit.journal_key)


def _unusable(error: JournalError) -> DoctorFinding:
    """What is wrong stands before the first colon, and what to do behind it."""
    what, _, todo = str(error).partition(": ")
    return problem("journal", what, todo)


def _examined(
    kit: ExaminedKit, path: Path, database: sqlite3.Connection
) -> Iterator[DoctorFinding]:
    (word,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if word != "ok":
        yield _unusable(unreadable(path, None, word))
        return
    meta = dict(database.execute("SELECT key, value FROM meta").fetchall())
    if meta.get("journal") != str(JOURNAL_VERSION):
        yield problem(
            "journal",
            f"{path} was written by lotor {meta.get('version')} (journal version "
            f"{meta.get('journal')}), and this lotor {VERSION} only reads journal version "
            f"{JOURNAL_VERSION}",
            f"install lotor {meta.get('version')} to finish the runs in it, or let `state` in "
            "party.toml name a new folder",
        )
    elif kit.subject is not None and meta.get("party") != str(kit.subject):
        yield problem(
            "journal",
            f"{path} is the journal of {meta.get('party')}, not of {kit.subject}",
            "give each party a state folder of its own",
        )
    else:
        (runs,) = database.execute("SELECT count(*) FROM runs").fetchone()
        yield ok("journal", f"{path} is whole; runs in it: {runs}")

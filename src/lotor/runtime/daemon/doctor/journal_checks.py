"""Checks of a party's state folder and journal, which is only read."""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

from lotor.core.version import VERSION
from lotor.runtime.daemon.doctor.findings import Finding, ok, open_to_others, problem, warning
from lotor.runtime.daemon.doctor.kit_checks import Patient
from lotor.runtime.durable.journal import JOURNAL_VERSION, open_read_only

JOURNAL, LOCK = "journal.db", "journal.lock"
ENOUGH_SPACE, LEAST_SPACE = 1 << 30, 64 << 20


def check_state(patient: Patient) -> Iterator[Finding]:
    """The folder: whether it can be written, by this user alone."""
    folder = patient.state
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


def _space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 20):,.0f} MiB are free on the disk of {folder}"
    todo = "make room: a party that cannot write its journal stops"
    if free < LEAST_SPACE:
        return problem("disk", text, todo)
    return warning("disk", text, todo) if free < ENOUGH_SPACE else ok("disk", text)


def is_served(patient: Patient) -> bool:
    """Whether a process drives this party now."""
    try:
        handle = os.open(patient.state / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def check_served(patient: Patient, openers: Collection[str]) -> Iterator[Finding]:
    subject = patient.subject
    if is_served(patient):
        yield ok("served", "a process serves this party")
    elif subject is not None and subject.role in openers:
        yield ok("served", "not now; `lotor start` and `lotor runs follow` do so while they wait")
    else:
        yield warning(
            "served", "no process serves this party", f"`lotor serve --kit {patient.path}`"
        )


def check_journal(patient: Patient) -> Iterator[Finding]:
    """Whether it is whole, of this version, and this party's."""
    path = patient.state / JOURNAL
    if not path.exists():
        yield ok("journal", "there is none yet")
        return
    try:
        with closing(open_read_only(path)) as database:
            yield from _examined(patient, path, database)
    except sqlite3.Error as error:
        yield _damaged(path, str(error))


def _damaged(path: Path, how: str) -> Finding:
    return problem(
        "journal",
        f"{path} is damaged ({how})",
        "put back the newest copy of its folder; peers refuse one that is too old",
    )


def _examined(patient: Patient, path: Path, database: sqlite3.Connection) -> Iterator[Finding]:
    (word,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if word != "ok":
        yield _damaged(path, word)
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
    elif patient.subject is not None and meta.get("party") != str(patient.subject):
        yield problem(
            "journal",
            f"{path} is the journal of {meta.get('party')}, not of {patient.subject}",
            "give each party a state folder of its own",
        )
    else:
        (runs,) = database.execute("SELECT count(*) FROM runs").fetchone()
        yield ok("journal", f"{path} is whole; runs in it: {runs}")

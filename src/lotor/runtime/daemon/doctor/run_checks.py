"""Checks of runs that wait: for whom, and what their operator can do."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from lotor.core.errors import LotorError
from lotor.runtime.daemon.announcement import members_of
from lotor.runtime.daemon.doctor.findings import DoctorFinding, ok, problem, warning
from lotor.runtime.daemon.doctor.journal_checks import JOURNAL, is_served, open_journal
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING, read_kept
from lotor.runtime.durable.journal import RUNNING, WAITING

CHECK = "runs"


def check_runs(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    path = kit.state / JOURNAL
    if not path.exists() or kit.locked:
        return
    with closing(open_journal(kit)) as database:
        rows = database.execute(
            "SELECT id, seat, state, note FROM runs WHERE state IN (?, ?) ORDER BY created",
            (WAITING, RUNNING),
        ).fetchall()
        found = [finding for row in rows for finding in _about(kit, database, *row)] + _left_undone(
            kit, database
        )
    yield from found
    if not found:
        yield ok(CHECK, f"no run waits for a person or a party; under way: {len(rows)}")


def _about(
    kit: ExaminedKit, database: sqlite3.Connection, run: str, own: str, state: str, note: str
) -> Iterator[DoctorFinding]:
    option = f"--kit {kit.path}"
    stop = f"`lotor runs stop {run} {option}` ends it"
    decision = _open_pull(database, run)
    if state == WAITING:
        yield warning(
            CHECK,
            f"run {run} waits for approval: {note}",
            f"`lotor runs approve {run} {option}`, or `lotor runs refuse {run} {option}`",
        )
    elif decision is not None and not _repeatable(kit) and (decision in note or not is_served(kit)):
        yield problem(
            CHECK,
            f"run {run} is in doubt: nobody knows whether decision {decision} was carried out",
            f"find out, then `lotor runs resolve {run} {decision} {option}` with `--reward X`, "
            "`--features X,Y`, `--lost` or `--again`",
        )
    elif decision is not None and decision in note:
        todo = f"correct the function, which is then asked again without your help; {stop}"
        yield problem(CHECK, f"run {run} waits for an answer: {note}", todo)
    elif note and not is_served(kit) and _missed(database, run, own):
        todo = (
            f"`lotor serve {option}` or `lotor runs follow {run} {option}` goes on with it; {stop}"
        )
        yield warning(CHECK, f"run {run} is held up: this party is not served", todo)
    elif note:
        yield warning(
            CHECK,
            f"run {run} is held up: {note}",
            f"see that these parties are served, as they were when the run began; {stop}",
        )
    for seat, status in _others(database, run, own).items():
        if status.state in (WAITING, MISSING, IN_DOUBT, BLOCKED):
            name = _name(database, run, seat)
            text = f"run {run} is {status.state} at {name}: {status.text}"
            who = "the parties that it names" if status.state == MISSING else name
            yield warning(CHECK, text, f"ask the operator of {who}; {stop}")


def _name(database: sqlite3.Connection, run: str, seat: str) -> str:
    """The party in a seat of a run: its operator may not know how the protocol calls it."""
    (signed,) = database.execute("SELECT announcement FROM runs WHERE id = ?", (run,)).fetchone()
    try:
        return members_of(signed)[seat].subject.name
    except (LotorError, KeyError):  # of another version
        return seat


def _open_pull(database: sqlite3.Connection, run: str) -> str | None:
    """The decision that was asked for and not answered."""
    row = database.execute(
        "SELECT decision FROM pulls WHERE run = ? AND NOT answered AND decision IS NOT NULL", (run,)
    ).fetchone()
    return None if row is None else str(row[0])


def _repeatable(kit: ExaminedKit) -> bool:
    owner = None if kit.config is None else kit.config.owner
    return owner is not None and owner.repeatable


def _missed(database: sqlite3.Connection, run: str, own: str) -> bool:
    """Whether all that this party had to say when it stopped is whom it missed."""
    rows = database.execute("SELECT seat, status FROM statuses WHERE run = ?", (run,)).fetchall()
    status = read_kept(dict(rows)).get(own)
    return status is None or status.state == MISSING


def _others(database: sqlite3.Connection, run: str, own: str) -> dict[str, Status]:
    rows = database.execute(
        "SELECT seat, status FROM statuses WHERE run = ? AND seat != ? ORDER BY seat", (run, own)
    )
    return read_kept(dict(rows.fetchall()))


def _left_undone(kit: ExaminedKit, database: sqlite3.Connection) -> list[DoctorFinding]:
    (count,) = database.execute("SELECT count(*) FROM commands").fetchone()
    if not count or is_served(kit):
        return []
    todo = f"`lotor serve --kit {kit.path}`"
    return [warning(CHECK, f"commands that wait until this party is served: {count}", todo)]

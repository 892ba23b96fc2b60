"""Checks of runs that wait: for whom, and what their operator can do."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import msgspec

from lotor.runtime.daemon.doctor.findings import Finding, ok, problem, warning
from lotor.runtime.daemon.doctor.journal_checks import JOURNAL, is_served
from lotor.runtime.daemon.doctor.kit_checks import Patient
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING
from lotor.runtime.durable.journal import RUNNING, WAITING, open_read_only

CHECK = "runs"


def check_runs(patient: Patient) -> Iterator[Finding]:
    path = patient.state / JOURNAL
    if not path.exists():
        return
    with closing(open_read_only(path)) as database:
        rows = database.execute(
            "SELECT id, state, note FROM runs WHERE state IN (?, ?) ORDER BY created",
            (WAITING, RUNNING),
        ).fetchall()
        found = [
            finding for row in rows for finding in _about(patient, database, *row)
        ] + _left_undone(patient, database)
    yield from found
    if not found:
        yield ok(CHECK, f"none waits for a person or a party; under way: {len(rows)}")


def _about(
    patient: Patient, database: sqlite3.Connection, run: str, state: str, note: str
) -> Iterator[Finding]:
    kit = f"--kit {patient.path}"
    stop = f"`lotor runs stop {run} {kit}` ends it"
    decision = _open_pull(database, run)
    if state == WAITING:
        yield warning(
            CHECK,
            f"run {run} waits for approval: {note}",
            f"`lotor runs approve {run} {kit}`, or `lotor runs refuse {run} {kit}`",
        )
    elif (
        decision is not None
        and not _repeatable(patient)
        and (decision in note or not is_served(patient))
    ):
        yield problem(
            CHECK,
            f"run {run} is in doubt: nobody knows whether decision {decision} was carried out",
            f"find out, then `lotor runs resolve {run} {decision} {kit}` with `--reward X`, "
            "`--features X,Y`, `--lost` or `--again`",
        )
    elif decision is not None and decision in note:
        todo = f"mend the function, which is asked again by itself; {stop}"
        yield problem(CHECK, f"run {run} waits for an answer: {note}", todo)
    elif note:
        yield warning(
            CHECK,
            f"run {run} is held up: {note}",
            f"see that these parties are served, as they were when the run began; {stop}",
        )
    for seat, status in _others(database, run).items():
        if status.state in (MISSING, IN_DOUBT, BLOCKED):
            text = f"run {run} is {status.state} at {seat}: {status.text}"
            who = "whoever it names" if status.state == MISSING else seat
            yield warning(CHECK, text, f"ask the operator of {who}; {stop}")


def _open_pull(database: sqlite3.Connection, run: str) -> str | None:
    """The decision that was asked for and not answered."""
    row = database.execute(
        "SELECT decision FROM pulls WHERE run = ? AND NOT answered AND decision IS NOT NULL", (run,)
    ).fetchone()
    return None if row is None else str(row[0])


def _repeatable(patient: Patient) -> bool:
    owner = None if patient.config is None else patient.config.owner
    return owner is not None and owner.repeatable


def _others(database: sqlite3.Connection, run: str) -> dict[str, Status]:
    rows = database.execute("SELECT seat, status FROM statuses WHERE run = ? ORDER BY seat", (run,))
    return {seat: msgspec.msgpack.decode(status, type=Status) for seat, status in rows}


def _left_undone(patient: Patient, database: sqlite3.Connection) -> list[Finding]:
    (count,) = database.execute("SELECT count(*) FROM commands").fetchone()
    if not count or is_served(patient):
        return []
    todo = f"`lotor serve --kit {patient.path}`"
    return [warning(CHECK, f"commands that wait until this party is served: {count}", todo)]

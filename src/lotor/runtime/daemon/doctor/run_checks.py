"""Checks of runs that wait: for whom, and what their operator can do."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

from lotor.core.errors import LotorError
from lotor.runtime.daemon.announcement import members_of
from lotor.runtime.daemon.doctor.findings import DoctorFinding, ok, problem, warning
from lotor.runtime.daemon.doctor.journal_checks import JOURNAL, is_served, open_journal
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.pending import (
    PendingParty,
    looked_for,
    missing_parties,
    waiting_parties,
    when_unserved,
)
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING, PAUSED, read_kept
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
        found = [finding for row in rows for finding in _about(kit, database, *row)]
        found += [*_not_begun(kit, database), *_left_undone(kit, database)]
    yield from found
    if not found:
        yield ok(CHECK, f"no run waits for a person or a party; under way: {len(rows)}")


def _about(
    kit: ExaminedKit, database: sqlite3.Connection, run: str, own: str, state: str, note: str
) -> Iterator[DoctorFinding]:
    option = f"--kit {kit.path}"
    stop = f"`lotor runs stop {run} {option}` ends it"
    decision = _open_pull(database, run)
    status = _statuses(database, run).get(own)
    # Then its note says by their seats who is missing, which is said below by their names.
    missed = status is not None and status.state == MISSING
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
            f"find out, then `lotor runs resolve {run} {decision} {option}` with `--reward -`, "
            "`--features -`, `--lost` or `--again`",
        )
    elif decision is not None and decision in note:
        todo = f"correct the function, which is then asked again without your help; {stop}"
        yield problem(CHECK, f"run {run} waits for an answer: {note}", todo)
    elif (late := _late_decision(database, run, note)) is not None:
        yield problem(
            CHECK,
            f"run {run} lacks an outcome: {note}",
            f"`lotor reward {run} {late} {option}`, or `lotor decisions give-back {late} {option}`",
        )
    elif note and not is_served(kit) and (missed or status is None):
        todo = (
            f"`lotor serve {option}` or `lotor runs follow {run} {option}` goes on with it; {stop}"
        )
        yield warning(CHECK, f"run {run} is held up: this party is not served", todo)
    elif note and not missed:
        yield warning(
            CHECK,
            f"run {run} is held up: {note}",
            f"see that these parties are served, as they were when the run began; {stop}",
        )
    yield from _held_up(kit, database, run, own, stop)


def _held_up(
    kit: ExaminedKit, database: sqlite3.Connection, run: str, own: str, stop: str
) -> Iterator[DoctorFinding]:
    """Who is missing in a run, who waits for its operator, and since when."""
    statuses, names = _statuses(database, run), _names(database, run)
    known = statuses if is_served(kit) else when_unserved(own, statuses)
    if missing := missing_parties(own, known, names):
        text = "; ".join(one.missing_sentence for one in missing)
        them = "it" if len(missing) == 1 else "them"
        todo = f"ask {_operators(missing)} to start {them} again; {stop}"
        yield warning(CHECK, f"run {run} is paused: {text}", todo)
    if waiting := [one for one in waiting_parties(known, names) if one.seat != own]:
        text = "; ".join(one.waiting_sentence for one in waiting)
        todo = f"ask {_operators(waiting)} to approve or refuse it; {stop}"
        yield warning(CHECK, f"run {run} is held up: {text}", todo)
    for seat, status in statuses.items():
        if seat != own and status.state in (IN_DOUBT, BLOCKED, PAUSED):
            name = names.get(seat, seat)
            text = f"run {run} is {status.state} at {name}: {status.text}"
            yield warning(CHECK, text, f"ask the operator of {name}; {stop}")


def _operators(parties: Sequence[PendingParty]) -> str:
    names = [one.name for one in parties]
    if len(names) == 1:
        return f"the operator of {names[0]}"
    return f"the operators of {', '.join(names[:-1])} and {names[-1]}"


def _names(database: sqlite3.Connection, run: str) -> dict[str, str]:
    """The parties of a run by seat: their operators may not know how the protocol calls them."""
    (signed,) = database.execute("SELECT announcement FROM runs WHERE id = ?", (run,)).fetchone()
    try:
        return {seat: one.subject.name for seat, one in members_of(signed).items()}
    except LotorError:  # of another version
        return {}


def _open_pull(database: sqlite3.Connection, run: str) -> str | None:
    """The decision that was asked for and not answered, and whose answer does not come later."""
    row = database.execute(
        "SELECT decision FROM pulls WHERE run = ? AND NOT answered AND decision IS NOT NULL "
        "AND decision NOT IN (SELECT id FROM decisions)",
        (run,),
    ).fetchone()
    return None if row is None else str(row[0])


def _late_decision(database: sqlite3.Connection, run: str, note: str) -> str | None:
    """The decision that a note is about, if its outcome may come later."""
    rows = database.execute(
        "SELECT id FROM decisions WHERE run = ? AND told IS NULL AND round > 0", (run,)
    )
    return next((name for (name,) in rows if name in note), None)


def _repeatable(kit: ExaminedKit) -> bool:
    owner = None if kit.config is None else kit.config.owner
    return owner is not None and owner.repeatable


def _statuses(database: sqlite3.Connection, run: str) -> dict[str, Status]:
    sql = "SELECT seat, status FROM statuses WHERE run = ? ORDER BY seat"
    return read_kept(dict(database.execute(sql, (run,)).fetchall()))


def _not_begun(kit: ExaminedKit, database: sqlite3.Connection) -> Iterator[DoctorFinding]:
    """Orders whose members are still looked for."""
    if not is_served(kit):  # nobody is looked for
        return
    rows = database.execute(
        "SELECT run, party, since FROM sought WHERE run IN (SELECT run FROM commands) "
        "AND run NOT IN (SELECT id FROM runs) ORDER BY run, party"
    ).fetchall()
    for run in dict.fromkeys(run for run, _, _ in rows):
        sought = {party: since for about, party, since in rows if about == run}
        yield warning(
            CHECK,
            f"run {run} has not begun: {'; '.join(looked_for(sought))}",
            "see that they are served and have these names in their certificates; "
            f"`lotor runs stop {run} --kit {kit.path}` takes the order back",
        )


def _left_undone(kit: ExaminedKit, database: sqlite3.Connection) -> list[DoctorFinding]:
    (count,) = database.execute("SELECT count(*) FROM commands").fetchone()
    if not count or is_served(kit):
        return []
    todo = f"`lotor serve --kit {kit.path}`"
    return [warning(CHECK, f"commands that wait until this party is served: {count}", todo)]

"""What a party knows of its runs, as `lotor runs list|show --json` print it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from lotor.core.durations import in_words
from lotor.core.errors import JournalError, LotorError
from lotor.protocols.form import RunPlan
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon import announcement, commands
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.exclusion_orders import left_for_good, lost_parties
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.daemon.pending import (
    PendingParty,
    as_unserved,
    held_up,
    looked_for,
    missing_parties,
    waiting_parties,
)
from lotor.runtime.daemon.round_orders import granted
from lotor.runtime.daemon.status import read_kept
from lotor.runtime.durable.journal import RUNNING, WAITING, Journal, RunRow
from lotor.runtime.durable.run_output import RunOutput

RunDocument: TypeAlias = dict[str, Any]

ORDERED = "ordered"
SHORT_ID = 8
STOP_ORDERED = "ordered: it is carried out as soon as this party is served"


def described(at: OpenKit, row: RunRow, *, served: bool) -> RunDocument:
    """What this party knows of a run; an owner's own pulls are in its own journal only."""
    t, messages, size = at.journal.progress(row.id)
    document: RunDocument = {
        "run": row.id,
        "state": row.state,
        "since": _moment(row.changed),
        "missing": [],
        "waiting": [],
        "held_up": [],
        "served": served,
        "note": row.note,
        "round": t,
        "seat": row.seat,
        "created": _moment(row.created),
        "changed": _moment(row.changed),
        "version": row.version,
        "messages_sent": messages,
        "bytes_sent": size,
    }
    try:
        agreement = announcement.check(
            row.announcement, row.signature, protocols=PROTOCOLS, trust=None, key=at.kit.key
        )
    except LotorError as error:
        return {**document, "note": str(error), "held_up": [str(error)]}
    left = left_for_good(at, row.id)
    known = read_kept(at.journal.statuses(row.id))
    plan = agreement.plan
    statuses = {seat: status for seat, status in known.items() if seat not in left}
    if not served:
        row, statuses = as_unserved(row, statuses)
        document["note"] = row.note
    names = {seat: one.subject.name for seat, one in agreement.members.items()}
    document |= {
        **_standing(row, statuses, names),
        "protocol": agreement.announcement.protocol,
        "form": agreement.form.name,
        **_pace(at, row, agreement),
        "code": [str(one) for one in agreement.announcement.code],
        "policy": plan.policy,
        "budget": plan.budget,
        "arms": plan.k,
        **({"reveals": dict(plan.reveals)} if plan.reveals else {}),
        **_continued(at.journal, row.id, agreement),
        "members": {
            seat: {
                "name": one.subject.name,
                "role": one.subject.role,
                "fingerprint": one.fingerprint,
            }
            for seat, one in agreement.members.items()
        },
        "others": {seat: _status(status) for seat, status in statuses.items()},
    }
    if not served and row.state in (RUNNING, WAITING):
        document["held_up"].insert(0, f"served {unserved(at.kit.path, row.id)}")
    if _stop_waits(at.journal, row.id):
        document["stop_ordered"] = True
        document["held_up"].append(f"stop {STOP_ORDERED}")
    if at.config.owner is not None:
        document |= _own(at.config.owner, *at.journal.pulled(row.id))
        document["open_decisions"] = at.journal.open_decisions(row.id)
    if row.seat == agreement.form.opener:
        document |= _result(at.journal.all_output(row.id), agreement.plan)
    document |= _losses(at, row, agreement, left)
    document["held_up"] += [one["note"] for one in document.get("lost", ())]
    if row.state == WAITING:
        document["leakage"] = {
            role: finding.measured
            for role, finding in agreement.form.findings(plan.reveals).items()
        }
    if plan.late:
        document["late_outcomes"] = plan.late
    if plan.account is not None:
        document["privacy"] = dict(plan.account)
    return document


def _continued(journal: Journal, run: str, agreement: RunAgreement) -> RunDocument:
    """Which run this one continues, and what is kept for one that continues it: never its content.

    Rounds count on from those before.
    """
    plan, about = agreement.plan, dict[str, Any]()
    if plan.continues:
        about |= {"continues": plan.continues, "rounds_before": plan.before}
    if plan.keeps:
        about["keeps"] = dict(agreement.form.keeps)
    kept, later = journal.kept.about(run), journal.kept.continued_by(run)
    if kept is not None:
        about["kept"] = {"bytes": kept.size, "since": _moment(kept.since)}
    if later:
        about["continued_by"] = later
    return about


def _standing(row: RunRow, statuses: Mapping[str, Status], names: Mapping[str, str]) -> RunDocument:
    """Who holds a run up, and since when it stands as it does."""
    open_here = row.state in (RUNNING, WAITING)
    own = statuses.get(row.seat)
    missing = missing_parties(row.seat, statuses, names) if open_here else []
    waiting = waiting_parties(statuses, names) if open_here else []
    return {
        "since": _moment(row.changed if own is None or not open_here else own.since),
        "missing": _pending(missing),
        "waiting": _pending(waiting),
        "held_up": held_up(row, statuses, names),
    }


def _losses(
    at: OpenKit, row: RunRow, agreement: RunAgreement, left: Mapping[str, float]
) -> RunDocument:
    """Who has left the run, or may have to, where its terms allow it."""
    if agreement.plan.exclude_after is None:
        return {}
    lost = lost_parties(at, row, agreement)
    return {
        "exclude_after": in_words(agreement.plan.exclude_after),
        "excluded": [{"seat": seat, "since": _moment(since)} for seat, since in left.items()],
        "lost": [
            {
                "seat": one.seat,
                "since": _moment(one.since),
                "due": _moment(one.due),
                "agreed": list(one.agreed),
                "lacking": list(one.lacking),
                "note": one.sentence,
            }
            for one in lost
        ],
    }


def _pace(at: OpenKit, row: RunRow, agreement: RunAgreement) -> RunDocument:
    """When the rounds of a run begin; with neither, as soon as they can."""
    pace, saved = agreement.announcement.pace, at.journal.pacing(row.id).read()
    about: RunDocument = {}
    if not pace.free:
        about |= {"pace": str(pace)}
    if pace.on_demand:
        about |= {"granted": granted(at, row, agreement).granted}
    if saved.paused is not None and row.state == RUNNING:
        about |= {"paused_since": _moment(saved.paused)}
    return about


def _pending(parties: Iterable[PendingParty]) -> list[RunDocument]:
    return [{"seat": one.seat, "name": one.name, "since": _moment(one.since)} for one in parties]


def ordered(at: OpenKit, run: str, *, served: bool) -> RunDocument:
    """A run that was asked for and has not been opened."""
    sought = at.journal.commands.sought(run)
    return {
        "run": run,
        "state": ORDERED,
        "since": _moment(min(sought.values())) if sought else "",
        "missing": _pending(PendingParty("", name, since) for name, since in sought.items()),
        "waiting": [],
        "held_up": [
            *([] if served else [f"served {unserved(at.kit.path, run)}"]),
            *looked_for(sought),
        ],
        "served": served,
        "note": "waits for its members: `lotor runs stop` takes it back",
        "round": 0,
        "seat": "",
        "changed": _moment(max(sought.values())) if sought else "",
    }


def _stop_waits(journal: Journal, run: str) -> bool:
    """Whether the operator has ended a run and no process has seen to it yet."""
    waiting = [command for _, about, command in journal.commands.waiting() if about == run]
    with suppress(JournalError):
        return any(isinstance(commands.from_bytes(one), commands.Stop) for one in waiting)
    return False


def unserved(kit: Path, run: str) -> str:
    """What goes on with a run of a party that nobody serves."""
    return (
        f"by no process now: `lotor serve --kit {kit}` or "
        f"`lotor runs follow {run[:SHORT_ID]} --kit {kit}` goes on with it"
    )


def is_served(journal: Journal) -> bool:
    """Whether a process drives this party now."""
    if journal.lock():
        journal.unlock()
        return False
    return True


def _result(told: RunOutput, plan: RunPlan) -> RunDocument:
    """What came of a run, where it was ordered."""
    found: RunDocument = {plan.counts: told.output, "outcomes": told.outcomes}
    if told.revealed is not None:
        found["revealed"] = msgspec.to_builtins(told.revealed)
    if told.left:
        found["without"] = told.left
    return found


def _own(owner: OwnerTable, asked: int, mean: float | None) -> RunDocument:
    """How often this party was asked for each kind of answer."""
    if owner.pull is None and owner.act is not None:
        return {"own_acts": asked}
    if owner.pull is None and owner.features is not None:
        return {"own_contexts": asked}
    return {"own_pulls": asked, "own_mean": mean}


def _status(status: Status) -> RunDocument:
    return {
        "state": status.state,
        "text": status.text,
        "round": status.round,
        "since": _moment(status.since),
        "time": _moment(status.time),
    }


def _moment(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")

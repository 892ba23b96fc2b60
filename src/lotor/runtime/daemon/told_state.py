"""How a run stands at one party, as it tells its peers.

What breaks an owner's rules, and why a pull fails, is for the party's own operator alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from lotor.runtime.daemon.run_peers import Absence
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING, PAUSED
from lotor.runtime.durable.journal import RUNNING, WAITING


@dataclass(frozen=True, slots=True)
class ToldState:
    """The state that others are told, its reason, and since when which seats are missing."""

    state: str
    text: str
    missing: Mapping[str, float]


def told_state(
    seat: str,
    state: str,
    note: str,
    absences: Mapping[str, Absence],
    blocked: Mapping[str, str],
    *,
    in_doubt: bool,
    paused: bool = False,
) -> ToldState:
    """What a party in this seat says of a run that its journal has in this state."""
    if state not in (RUNNING, WAITING):
        return ToldState(state, note, {})
    missing = {absent: absence.since for absent, absence in absences.items()}
    if state == WAITING:
        return ToldState(WAITING, f"{seat} waits for its operator's approval", missing)
    told = RUNNING, ""
    if blocked:
        told = BLOCKED, "; ".join(blocked.values())
    elif paused:
        told = PAUSED, f"{seat} has paused the run"
    elif in_doubt:
        told = IN_DOUBT, f"{seat} waits for its operator"
    elif missing:
        told = MISSING, _waits_for(absences)
    return ToldState(*told, missing)


def _waits_for(absences: Mapping[str, Absence]) -> str:
    away = ", ".join(f"{seat}, away since {moment(one.since)}" for seat, one in absences.items())
    late = any(absence.overdue for absence in absences.values())
    advice = ": bring it back, or end the run with `lotor runs stop`" if late else ""
    return f"waits for {away}{advice}"


def moment(when: float) -> str:
    """A time for people: to the second, with its day, in UTC."""
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S} UTC"

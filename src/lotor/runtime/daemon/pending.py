"""Who is missing in a run and who waits for approval, by the statuses in a party's journal."""

from collections.abc import Mapping

import msgspec

from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING, PAUSED
from lotor.runtime.daemon.told_state import moment
from lotor.runtime.durable.journal import RUNNING, WAITING, RunRow


class PendingParty(msgspec.Struct, frozen=True):
    """A party that a run waits for. `seat` is empty as long as the run has not begun."""

    seat: str
    name: str
    since: float

    @property
    def missing_sentence(self) -> str:
        return f"{shown_party(self.seat, self.name)} has been missing since {moment(self.since)}"

    @property
    def waiting_sentence(self) -> str:
        who = shown_party(self.seat, self.name)
        return f"{who} has been waiting for approval since {moment(self.since)}"


def shown_party(seat: str, name: str) -> str:
    """A party by its seat, and by its name where that is another one."""
    return name if seat in ("", name) else f"{seat} ({name})"


def looked_for(sought: Mapping[str, float]) -> list[str]:
    """Whom a run waits for that has not begun, a sentence for each moment since when."""
    together: dict[str, list[str]] = {}
    for name, since in sought.items():
        together.setdefault(moment(since), []).append(name)
    return [f"looking for {', '.join(names)} since {since}" for since, names in together.items()]


def when_unserved(own: str, statuses: Mapping[str, Status]) -> dict[str, Status]:
    """The statuses at a party that no process serves: whom it missed when it stopped is old."""
    known = dict(statuses)
    if own in known:
        gone = {"state": RUNNING, "text": ""} if known[own].state == MISSING else {}
        known[own] = msgspec.structs.replace(known[own], missing={}, **gone)
    return known


def missing_parties(
    own: str, statuses: Mapping[str, Status], names: Mapping[str, str]
) -> list[PendingParty]:
    """Who is not connected, by the word of this party first, then by that of the others.

    What a missing party said before it left does not count; of two that miss each other, the one
    who was heard last is believed.
    """
    found: dict[str, float] = {}
    first = [statuses[own]] if own in statuses else []
    others = [status for seat, status in statuses.items() if seat != own]
    for status in first + sorted(others, key=lambda one: -one.time):
        if status.seat not in found:
            for seat, since in status.missing.items():
                found[seat] = min(since, found.get(seat, since))
    found.pop(own, None)
    return [PendingParty(seat, names.get(seat, seat), found[seat]) for seat in sorted(found)]


def waiting_parties(statuses: Mapping[str, Status], names: Mapping[str, str]) -> list[PendingParty]:
    """Who waits for the approval of its operator."""
    return [
        PendingParty(seat, names.get(seat, seat), status.since)
        for seat, status in sorted(statuses.items())
        if status.state == WAITING
    ]


def as_unserved(row: RunRow, statuses: Mapping[str, Status]) -> tuple[RunRow, dict[str, Status]]:
    """What a party knows of a run that is open, without whom it missed when it stopped."""
    if row.state not in (RUNNING, WAITING):
        return row, dict(statuses)
    own = statuses.get(row.seat)
    if own is not None and own.state == MISSING:
        row = msgspec.structs.replace(row, note="")
    return row, when_unserved(row.seat, statuses)


def held_up(row: RunRow, statuses: Mapping[str, Status], names: Mapping[str, str]) -> list[str]:
    """What a run waits for, or why it ended, a sentence each; none if all is well."""
    if row.state not in (RUNNING, WAITING):
        return [row.note] if row.note else []
    own = statuses.get(row.seat)
    found = [one.missing_sentence for one in missing_parties(row.seat, statuses, names)]
    found += [
        one.waiting_sentence for one in waiting_parties(statuses, names) if one.seat != row.seat
    ]
    others = {seat: one for seat, one in sorted(statuses.items()) if seat != row.seat}
    for seat, one in others.items():
        who, since = shown_party(seat, names.get(seat, seat)), moment(one.since)
        if one.state == IN_DOUBT:
            found.append(f"{who} has been waiting for its operator since {since}")
        elif one.state == PAUSED:
            found.append(f"{who} has paused the run, since {since}")
    found += sorted({one.text for one in others.values() if one.state == BLOCKED} - {""})
    if row.state == WAITING:
        return [f"waits for your approval: {row.note}", *found]
    # Its own note says more than it tells others, unless somebody is missing.
    if row.note and (own is None or own.state != MISSING):
        return [row.note, *found]
    return found

"""What a party's operator may decide about lost parties: checked, and put into its journal.

It is about one absence, as the party has noticed it that everybody talks to.
"""

import time
from dataclasses import dataclass

from lotor.core.durations import in_words
from lotor.core.errors import InputError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.daemon.round_orders import agreement_of, commands_for
from lotor.runtime.daemon.status import read_kept
from lotor.runtime.daemon.told_state import moment
from lotor.runtime.durable.journal import FINISHED, RUNNING, RunRow


@dataclass(frozen=True, slots=True)
class LostParty:
    """A party that is away, and may be excluded from the moment `due` on if nobody is `lacking`."""

    seat: str
    since: float
    due: float
    agreed: tuple[str, ...]
    lacking: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """How it stands with its exclusion."""
        if time.time() < self.due:
            return f"{self.seat} may be excluded from {moment(self.due)} on, if all others agree"
        agreed = f"{', '.join(self.agreed)} agreed" if self.agreed else "nobody has agreed yet"
        return (
            f"{self.seat} is excluded once all others agree by `lotor runs exclude`: {agreed}, "
            f"{', '.join(self.lacking) or 'nobody'} still must"
        )


def left_for_good(at: OpenKit, run: str) -> dict[str, float]:
    """The seats that were excluded from a run, with the moment since which each had been away."""
    found: dict[str, float] = {}
    for one in at.journal.losses(run).exclusions():
        found |= one.exclusion.away
    return found


def lost_parties(at: OpenKit, row: RunRow, agreement: RunAgreement) -> list[LostParty]:
    """The parties that are away and can be excluded, with those who agreed."""
    after = agreement.plan.exclude_after
    hub = read_kept(at.journal.statuses(row.id)).get(_hub(agreement))
    if after is None or hub is None or row.state not in (RUNNING, FINISHED):
        return []
    gone = left_for_good(at, row.id)
    lost = {
        seat: since
        for seat, since in hub.missing.items()
        if seat in agreement.plan.excludable and seat not in gone
    }
    agreed = {(one.party, one.since, one.signer) for one in at.journal.losses(row.id).agreements()}
    for command in commands_for(at, row):
        if isinstance(command, commands.Exclude):
            agreed.add((command.party, command.since, row.seat))
    found = []
    for seat, since in lost.items():
        asked = [one for one in agreement.members if one not in gone and one != seat]
        said = tuple(one for one in asked if (seat, since, one) in agreed)
        # Those that are lost, too, cannot agree, and need not.
        lacking = tuple(one for one in asked if one not in said and one not in lost)
        found.append(LostParty(seat, since, since + after, said, lacking))
    return found


def exclude(at: OpenKit, row: RunRow, party: str) -> LostParty:
    """Agree to go on without a party that has been away for longer than the terms say."""
    agreement = agreement_of(at, row)
    _check_may_leave(at, row, agreement, party)
    lost = {one.seat: one for one in lost_parties(at, row, agreement)}
    if party not in lost:
        raise InputError(
            f"{party} is not away from run {row.id}, as far as the {_hub(agreement)} has told: "
            "`lotor runs show` says who is missing"
        )
    found = lost[party]
    if time.time() < found.due:
        after = in_words(agreement.plan.exclude_after or 0.0)
        raise InputError(
            f"{party} has been away since {moment(found.since)}, and run {row.id} waits {after}: "
            f"agree to its exclusion from {moment(found.due)} on"
        )
    if row.seat in found.agreed:
        raise InputError(f"you have agreed to the exclusion of {party} already")
    command = commands.Exclude(party, found.since)
    at.journal.commands.add(row.id, commands.to_bytes(command))
    return found


def _check_may_leave(at: OpenKit, row: RunRow, agreement: RunAgreement, party: str) -> None:
    """Refuse what no agreement can bring about, with the reason."""
    run, plan = row.id, agreement.plan
    if row.state != RUNNING and not (row.state == FINISHED and run in at.journal.unsettled()):
        raise InputError(f"run {run} is {row.state}: nobody can be excluded from it")
    if plan.exclude_after is None:
        raise InputError(
            f"nobody can be excluded from run {run}, since its terms do not say when: only a run "
            "that was started with --exclude-after goes on without an owner; bring the party "
            "back, or end the run with `lotor runs stop`"
        )
    if party not in plan.seats:
        raise InputError(f"run {run} has no party {party}: its parties are {', '.join(plan.seats)}")
    if party not in plan.excludable:
        raise InputError(
            f"the {party} cannot be excluded, since no run can go on without it: bring it back, or "
            "end the run with `lotor runs stop`"
        )
    if party == row.seat:
        raise InputError("this is your own party: `lotor runs stop` ends the run for all")
    gone = left_for_good(at, run)
    if party in gone:
        raise InputError(f"{party} has been excluded from run {run} already")
    if not set(plan.excludable) - gone.keys() - {party}:
        raise InputError(
            f"{party} is the last owner of run {run}, which cannot go on without any: end it with "
            "`lotor runs stop`"
        )
    if row.seat == _hub(agreement) and at.journal.progress(run)[0] == 0:
        raise InputError(
            f"the rounds of run {run} have not begun, and its set-up needs everybody: bring "
            f"{party} back, or end the run with `lotor runs stop`"
        )


def _hub(agreement: RunAgreement) -> str:
    return agreement.form.hubs[0]

"""What a party's operator may order about the rounds of a run: checked, and put into its journal.

A process that serves the party carries it out, now or when there is one. The command line and other
interfaces call the same functions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lotor.core.errors import InputError, JournalError
from lotor.core.wording import counted
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon import announcement, commands
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.durable.journal import RUNNING, RunRow


@dataclass(frozen=True, slots=True)
class RoundsGranted:
    """So many rounds may have begun of those that wait for it, and round `last` is the last one."""

    granted: int
    last: int
    left: int


def granted(at: OpenKit, row: RunRow, agreement: RunAgreement | None = None) -> RoundsGranted:
    """What is granted in a run on demand, with the commands that nobody has carried out yet."""
    plan = (agreement or agreement_of(at, row)).plan
    most = max(plan.budget - plan.first_rounds, 0)
    ordered = sum(
        one.count for one in commands_for(at, row) if isinstance(one, commands.NextRounds)
    )
    rounds = min(at.journal.pacing(row.id).read().granted + ordered, most)
    return RoundsGranted(rounds, plan.before + plan.first_rounds + rounds, most - rounds)


def let_begin(at: OpenKit, row: RunRow, count: int) -> RoundsGranted:
    """Let so many more rounds begin, in a run on demand that this party has ordered."""
    _check_running(row, "its rounds cannot be asked for")
    agreement = agreement_of(at, row)
    if not agreement.announcement.pace.on_demand:
        raise InputError(
            f"the rounds of run {row.id} do not wait to be asked for: only those of a run that "
            "was started with --on-demand do"
        )
    if agreement.seat != agreement.form.opener:
        raise InputError(
            f"the rounds of run {row.id} are asked for by the {agreement.form.opener} alone, "
            f"{agreement.opener.subject.name}: use its kit"
        )
    with at.journal.transaction():  # nobody carries out a command between the two looks
        before = granted(at, row, agreement)
    if not 1 <= count <= before.left:
        left = counted(before.left, "round") if before.left else "no round"
        raise InputError(
            f"{counted(count, 'round')} cannot be asked for: run {row.id} has {left} left that "
            "is not asked for yet"
        )
    _order(at, row, commands.NextRounds(count))
    return RoundsGranted(before.granted + count, before.last + count, before.left - count)


def pause(at: OpenKit, row: RunRow) -> None:
    """Let no more rounds begin until `resume`; the round that has begun goes on to its end."""
    _check_running(row, "it cannot be paused")
    if is_paused(at, row):
        raise InputError(f"run {row.id} is paused by you already: `lotor runs resume` goes on")
    _order(at, row, commands.Pause())


def resume(at: OpenKit, row: RunRow) -> None:
    """Go on with a run that this party's operator has paused."""
    _check_running(row, "it cannot go on")
    if not is_paused(at, row):
        raise InputError(
            f"run {row.id} is not paused by you: `lotor runs show` says what it waits for"
        )
    _order(at, row, commands.Resume())


def is_paused(at: OpenKit, row: RunRow) -> bool:
    """Whether this party has paused a run, or will have when its commands are carried out."""
    paused = at.journal.pacing(row.id).read().paused is not None
    for command in commands_for(at, row):
        if isinstance(command, commands.Pause | commands.Resume):
            paused = isinstance(command, commands.Pause)
    return paused


def _check_running(row: RunRow, what: str) -> None:
    if row.state != RUNNING:
        raise InputError(f"run {row.id} is {row.state}: {what}")


def agreement_of(at: OpenKit, row: RunRow) -> RunAgreement:
    """What the parties of a run have agreed to."""
    return announcement.check(
        row.announcement, row.signature, protocols=PROTOCOLS, trust=None, key=at.kit.key
    )


def commands_for(at: OpenKit, row: RunRow) -> Iterator[commands.Command]:
    """What was ordered about a run and nobody has carried out yet."""
    for _, run, data in at.journal.commands.waiting():
        if run == row.id:
            try:
                yield commands.from_bytes(data)
            except JournalError:  # of another version: the daemon says so, and drops it
                continue


def _order(at: OpenKit, row: RunRow, command: commands.Command) -> None:
    at.journal.commands.add(row.id, commands.to_bytes(command))

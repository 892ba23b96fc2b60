"""A run that continues an ended one: every party looks into its own journal whether that fits."""

from collections.abc import Mapping

from lotor.core.errors import InputError, JournalError
from lotor.protocols.earlier import Earlier
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.announcement import RunAgreement, members_of
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.durable.journal import FINISHED, RunRow


def earlier_of(context: RunContext, agreement: RunAgreement) -> Earlier | None:
    """What this party has of the run that an announced one continues; refuses what does not fit.

    None if it continues none, or if this party is new in it.
    """
    plan, run = agreement.plan, agreement.plan.continues
    if not run:
        return None
    if not agreement.form.continuable:
        raise InputError(
            f"a run of {agreement.announcement.protocol} in the form {agreement.form.name} cannot "
            "continue another one: start a new one"
        )
    row = context.journal.find(run)
    if row is None and agreement.seat in plan.newcomers and agreement.form.joinable:
        return None
    if row is None:
        raise InputError(
            f"{context.kit.subject.name} has no run {run}, which this run continues: it was pruned "
            "there, or the journal is another one; start a new run"
        )
    ended = ended_run(context.kit, row, context.protocols)
    check_continues(ended, agreement.announcement.protocol, agreement.form.name)
    _check_members(ended, agreement)
    return kept_earlier(context, ended)


def ended_run(kit: Kit, row: RunRow, protocols: Mapping[str, type[SecureProtocol]]) -> RunAgreement:
    """The agreement of a run that is to be continued, if it can be from here."""
    who, key = kit.subject.name, kit.key
    if row.state != FINISHED:
        raise InputError(
            f"run {row.id} is {row.state} at {who}, and only a run that is finished at all parties "
            "can be continued"
        )
    if members_of(row.announcement)[row.seat].key_bytes != key.public_bytes:
        raise InputError(
            f"{who} has another key than it had in run {row.id}, and what it has kept of it was "
            "sealed under that one: put back the kit of then, or start a new run"
        )
    ended = announcement.check(
        row.announcement, row.signature, protocols=protocols, trust=None, key=key
    )
    announcement.check_resumable(ended, protocols)
    return ended


def members_by_role(ended: RunAgreement) -> dict[str, list[str]]:
    """Whom a run's opener names for a run that continues it with the same parties."""
    members: dict[str, list[str]] = {}
    for seat, role in ended.plan.seats.items():
        if seat != ended.form.opener:
            members.setdefault(role, []).append(ended.members[seat].subject.name)
    return members


def kept_earlier(context: RunContext, ended: RunAgreement) -> Earlier:
    """An ended run with what this party has kept of it."""
    run, order = ended.run, ended.announcement.order
    sealed, keeps = context.journal.kept.sealed(run), ended.form.keeps
    if sealed is None and ended.plan.keeps and ended.plan.seats[ended.seat] in keeps:
        raise JournalError(
            f"{context.kit.subject.name} has kept nothing of run {run}: it ended without a result "
            "for others, or the journal is an old one; start a new run"
        )
    return Earlier(run, order, None if sealed is None else context.seal.open(run, sealed))


def check_continues(ended: RunAgreement, protocol: str, form: str) -> None:
    """Refuse to continue a run that kept nothing, or in another protocol or form."""
    told = ended.announcement
    if (told.protocol, told.form) != (protocol, form):
        raise InputError(
            f"run {told.run} is one of {told.protocol} in the form {told.form}, and a run of "
            f"{protocol} in the form {form} cannot continue it: start it in the same form"
        )
    if not ended.plan.keeps:
        raise InputError(
            f"run {told.run} was started without keep, so nobody has kept what it takes to go on: "
            "start a new run, with keep if it is to be continued"
        )


def _check_members(ended: RunAgreement, agreement: RunAgreement) -> None:
    """Who was in the run must be the same party now; only owners can join it, or stay away."""
    form, newcomers = agreement.form, agreement.plan.newcomers
    for seat, member in agreement.members.items():
        before = ended.members.get(seat)
        if before is None or seat in newcomers:
            if before is not None or seat not in newcomers or not form.joinable:
                raise InputError(
                    f"{seat} {'was' if before else 'was not'} in run {ended.run}, and is to "
                    f"continue it as if it {'was not' if before else 'was'}: order it again"
                )
        elif before.key_bytes != member.key_bytes:
            raise InputError(
                f"{member.subject.name} has another key than {before.subject.name} had in run "
                f"{ended.run}, so that it may be somebody else: let it take part with the kit of "
                "then, or start a new run"
            )
    left = sorted(set(ended.members) - set(agreement.members))
    if left and not form.joinable:
        raise InputError(
            f"{', '.join(left)} took part in run {ended.run} and is not in this one: all of its "
            "parties must continue it"
        )

"""How the daemon of the party that orders a run starts it: find the members, and announce it."""

import asyncio
import logging
import time
from collections.abc import Mapping

from lotor.core.errors import InputError, MissingPartyError, StoppedError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate
from lotor.protocols.earlier import Earlier
from lotor.protocols.form import Member
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.announcement import (
    EVERYBODY,
    PURPOSE,
    Announcement,
    code_of,
    seated,
)
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.continuing import check_continues, earlier_of, ended_run, kept_earlier
from lotor.runtime.daemon.frames import Ask
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.pending import looked_for
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_registry import RunRegistry
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import RUNNING

ASK_SECONDS = 0.5

_log = logging.getLogger("lotor.daemon")


async def start_run(
    context: RunContext, registry: RunRegistry, run: str, wanted: StartRun
) -> LiveRun:
    """Find everybody, order the run, write it down, and begin."""
    kit, connections = context.kit, context.connections
    protocol = _protocol(context, wanted)
    earlier = _earlier(context, wanted, protocol)
    me, form = kit.subject.name, protocol.in_form()
    connections.forget_absent()
    names = {**wanted.members, form.opener: [me]}
    await _find(context, run, {name for listed in names.values() for name in listed} - {me})
    # A peer's word about this party is not needed.
    cards = {**connections.cards, me: connections.own_card()}
    members = {
        role: [Member(name, cards[name].contribution) for name in listed]
        for role, listed in names.items()
    }
    certificates = {
        seat: Certificate.from_der(cards[member.name].certificate)
        for seat, member in form.seats(members).items()
    }
    _, identity = seated(certificates, kit.key)
    opening = protocol, run, members, wanted.budget, identity
    ordered, party = form.open(*opening) if earlier is None else form.reopen(*opening, earlier)
    signed = _announcement(run, wanted, protocol, certificates, ordered).to_bytes()
    agreement = announcement.check(
        signed,
        identity.sign(signed, run=run, purpose=PURPOSE, recipient=EVERYBODY),
        protocols=context.protocols,
        trust=kit.fresh_trust(),
        key=kit.key,
    )
    earlier_of(context, agreement)
    live, snapshot = LiveRun(agreement, context, RUNNING, ""), first_snapshot(party)
    with context.journal.transaction():
        # Nobody can take the order back between the look and the start.
        if not context.journal.commands.asks_for(run):
            raise StoppedError(f"the order of run {run} was taken back")
        registry.add(live, snapshot)
    registry.begin(live)
    return live


def _protocol(context: RunContext, wanted: StartRun) -> SecureProtocol:
    """The protocol with the options that are wanted, if this party may start it."""
    if wanted.protocol not in context.protocols:
        known = ", ".join(context.protocols)
        raise InputError(f"no protocol is called {wanted.protocol!r}: choose one of {known}")
    protocol = context.protocols[wanted.protocol].ordered(wanted.options)
    subject, opener = context.kit.subject, protocol.in_form().opener
    if subject.role != opener:
        raise InputError(
            f"{subject.name} is {subject.role}, and {wanted.protocol} runs are "
            f"started by the {opener}: use its kit"
        )
    protocol.in_form().check_federated(wanted.protocol)
    wanted.pace.check()
    if not wanted.pace.free and not protocol.in_form().paced:
        raise InputError(
            f"{wanted.protocol} in the form {protocol.form} does not say when its rounds begin: "
            "start it without `every` and `on_demand`"
        )
    return protocol


def _earlier(context: RunContext, wanted: StartRun, protocol: SecureProtocol) -> Earlier | None:
    """What this party has of the run that is to be continued, before anybody is asked."""
    if not wanted.continues:
        return None
    ended = ended_run(context.kit, context.journal.run(wanted.continues), context.protocols)
    check_continues(ended, wanted.protocol, protocol.form)
    return kept_earlier(context, ended)


def _announcement(
    run: str,
    wanted: StartRun,
    protocol: SecureProtocol,
    certificates: Mapping[str, Certificate],
    ordered: bytes,
) -> Announcement:
    form = protocol.in_form()
    return Announcement(
        run=run,
        protocol=wanted.protocol,
        form=protocol.form,
        wire=form.wire,
        version=VERSION,
        code=code_of(type(protocol), form, form.plan(ordered)),
        created=time.time(),
        certificates={seat: one.to_der() for seat, one in certificates.items()},
        order=ordered,
        pace=wanted.pace,
    )


async def _find(context: RunContext, run: str, wanted: set[str]) -> None:
    """Ask around until all of these have been seen.

    Whom this party still misses is in its journal: whoever ordered the run may be another process.
    """
    connections, wait = context.connections, context.config.limits.wait
    queue, noted, logged = context.journal.commands, list[str](), list[str]()
    deadline = time.monotonic() + wait
    while missing := sorted(wanted - set(connections.cards)):
        if missing != noted:
            queue.seek(run, missing)
            noted = missing
        elif missing != logged:  # not at the first look, when nobody could answer yet
            text = "; ".join(looked_for(queue.sought(run)))
            RunLog(_log, run).warning(text, extra={"event": "looking"})
            logged = missing
        if time.monotonic() > deadline:
            raise MissingPartyError(
                f"{', '.join(missing)} could not be found within {wait:g} s: are they served, are "
                "they connected to the party that this one dials, and are their names right under "
                "[members] in party.toml?"
            )
        for name in connections.names():
            connections.send(name, Ask(""))
        await asyncio.sleep(ASK_SECONDS)
    queue.seek(run, ())

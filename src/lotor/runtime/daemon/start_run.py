"""How the daemon of the party that orders a run starts it: find the members, and announce it."""

import asyncio
import time

from lotor.core.errors import InputError, MissingPartyError, StoppedError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate
from lotor.protocols.deployment import Member
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE, Announcement, seated
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.frames import Ask
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_registry import RunRegistry
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import RUNNING

ASK_SECONDS = 0.5


async def start_run(
    context: RunContext, registry: RunRegistry, run: str, wanted: StartRun
) -> LiveRun:
    """Find everybody, order the run, write it down, and begin."""
    kit, connections, deployments = context.kit, context.connections, context.deployments
    deployment = deployments.get(wanted.protocol)
    if deployment is None:
        raise InputError(
            f"no protocol is called {wanted.protocol!r}: choose one of {', '.join(deployments)}"
        )
    if kit.subject.role != deployment.opener:
        raise InputError(
            f"{kit.subject.name} is {kit.subject.role}, and {wanted.protocol} runs are "
            f"started by the {deployment.opener}: use its kit"
        )
    connections.forget_absent()
    me = kit.subject.name
    names = {**wanted.members, deployment.opener: [me]}
    await _find(context, {name for listed in names.values() for name in listed} - {me})
    # A peer's word about this party is not needed.
    cards = {**connections.cards, me: connections.own_card()}
    members = {
        role: [Member(name, cards[name].offer) for name in listed] for role, listed in names.items()
    }
    certificates = {
        seat: Certificate.from_der(cards[member.name].certificate)
        for seat, member in deployment.seats(members).items()
    }
    _, identity = seated(certificates, kit.key)
    ordered, party = deployment.open(run, members, wanted.budget, wanted.options, identity)
    signed = Announcement(
        run=run,
        protocol=deployment.name,
        wire=deployment.wire,
        version=VERSION,
        created=time.time(),
        certificates={seat: one.to_der() for seat, one in certificates.items()},
        order=ordered,
    ).to_bytes()
    agreement = announcement.check(
        signed,
        identity.sign(signed, run=run, purpose=PURPOSE, recipient=EVERYBODY),
        deployments=deployments,
        trust=kit.fresh_trust(),
        key=kit.key,
    )
    if not context.journal.commands.asks_for(run):
        raise StoppedError(f"the order of run {run} was taken back")
    live = LiveRun(agreement, context, RUNNING, "")
    registry.add(live, first_snapshot(party))
    live.resume()
    return live


async def _find(context: RunContext, wanted: set[str]) -> None:
    """Ask around until all of these have been seen."""
    connections, wait = context.connections, context.config.limits.wait
    deadline = time.monotonic() + wait
    while missing := sorted(wanted - set(connections.cards)):
        if time.monotonic() > deadline:
            raise MissingPartyError(
                f"{', '.join(missing)} could not be found within {wait:g} s: are they served, are "
                "they connected to the party that this one dials, and are their names right under "
                "[members] in party.toml?"
            )
        for name in connections.names():
            connections.send(name, Ask(""))
        await asyncio.sleep(ASK_SECONDS)

"""How the opener's daemon opens a run: it finds the members, and announces what is ordered."""

import asyncio
import time
from collections.abc import Mapping
from typing import Protocol as Interface

from lotor.core.errors import InputError, MissingPartyError, StoppedError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate
from lotor.protocols.deployment import Deployment, Member
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE, Announcement, seated
from lotor.runtime.daemon.commands import Order
from lotor.runtime.daemon.frames import Ask, Card
from lotor.runtime.daemon.house import House
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import RUNNING

ASK_SECONDS = 0.5


class Opener(House, Interface):
    """What opening a run needs of the daemon."""

    @property
    def kit(self) -> Kit: ...

    @property
    def deployments(self) -> Mapping[str, Deployment]: ...

    @property
    def runs(self) -> Mapping[str, LiveRun]: ...

    @property
    def cards(self) -> Mapping[str, Card]: ...

    def add(self, live: LiveRun, snapshot: bytes | None) -> None: ...

    def forget_absent(self) -> None:
        """Trust no card of a party that is not connected here."""

    def stop_aside(self, run: str, reason: str) -> None:
        """End a run that cannot go on here."""


async def open_run(node: Opener, run: str, order: Order) -> LiveRun:
    """Find everybody, order the run, write it down, and begin."""
    deployment = node.deployments.get(order.protocol)
    if deployment is None:
        raise InputError(
            f"no protocol is called {order.protocol!r}: choose one of {', '.join(node.deployments)}"
        )
    if node.kit.subject.role != deployment.opener:
        raise InputError(
            f"{node.kit.subject.name} is {node.kit.subject.role}, and {order.protocol} runs are "
            f"started by the {deployment.opener}: use its kit"
        )
    node.forget_absent()
    me = node.kit.subject.name
    wanted = {**order.members, deployment.opener: [me]}
    await _find(node, {name for names in wanted.values() for name in names} - {me})
    # A peer's word about this party is not needed.
    cards = {**node.cards, me: Card(node.kit.certificate.to_der(), node.offer)}
    members = {
        role: [Member(name, cards[name].offer) for name in names] for role, names in wanted.items()
    }
    certificates = {
        seat: Certificate.from_der(cards[member.name].certificate)
        for seat, member in deployment.seats(members).items()
    }
    _, identity = seated(certificates, node.kit.key)
    ordered, party = deployment.open(run, members, order.budget, order.options, identity)
    signed = Announcement(
        run=run,
        protocol=deployment.name,
        wire=deployment.wire,
        version=VERSION,
        created=time.time(),
        certificates={seat: one.to_der() for seat, one in certificates.items()},
        order=ordered,
    ).to_bytes()
    table = announcement.check(
        signed,
        identity.sign(signed, run=run, purpose=PURPOSE, recipient=EVERYBODY),
        deployments=node.deployments,
        trust=node.kit.fresh_trust(),
        key=node.kit.key,
    )
    if not node.journal.commands.asks_for(run):
        raise StoppedError(f"the order of run {run} was taken back")
    live = LiveRun(table, node, RUNNING, "")
    node.add(live, first_snapshot(party))
    live.resume()
    return live


async def _find(node: Opener, wanted: set[str]) -> None:
    """Ask around until all of these have been seen."""
    deadline = time.monotonic() + node.wait
    while missing := sorted(wanted - set(node.cards)):
        if time.monotonic() > deadline:
            raise MissingPartyError(
                f"{', '.join(missing)} could not be found within {node.wait:g} s: are they "
                "served, are they connected to the party that this one dials, and are their "
                "names right under [members] in party.toml?"
            )
        for name in node.neighbours():
            node.send(name, Ask(""))
        await asyncio.sleep(ASK_SECONDS)

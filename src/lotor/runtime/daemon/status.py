"""What the parties of a run say about it: signed, so that nobody speaks for another.

Each party keeps the last status of every party, and passes news on to all that it is connected to.
"""

import time

import msgspec

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.signing import Identity
from lotor.runtime.daemon.announcement import EVERYBODY, RunAgreement
from lotor.runtime.daemon.connections import Connections
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.run_peers import RunPeers
from lotor.runtime.durable.journal import (
    FAILED,
    FINISHED,
    REFUSED,
    RUNNING,
    STOPPED,
    WAITING,
    Journal,
)
from lotor.transport.handshake import plain_text

PURPOSE = "status"
LAST_MOMENT = 1e11
"""In the year 5138: a later time is nonsense, and cannot be shown."""

MISSING, IN_DOUBT, BLOCKED = "missing", "in doubt", "blocked"
STATES = (WAITING, RUNNING, MISSING, IN_DOUBT, BLOCKED, FINISHED, STOPPED, FAILED, REFUSED)


def _signed_part(status: Status) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(status, signature=b""))


def make(identity: Identity, run: str, state: str, text: str, t: int, after: float) -> Status:
    """A status that is later than the one at `after`."""
    moment = max(time.time(), after + 1e-3)
    status = Status(run, identity.name, moment, state, plain_text(text), t)
    signature = identity.sign(_signed_part(status), run=run, purpose=PURPOSE, recipient=EVERYBODY)
    return msgspec.structs.replace(status, signature=signature)


def check(identity: Identity, status: Status) -> None:
    """Refuse a status that its party did not sign, or that is not safe to print."""
    try:
        identity.verify(
            _signed_part(status),
            status.signature,
            sender=status.seat,
            run=status.run,
            purpose=PURPOSE,
            recipient=EVERYBODY,
        )
    except IntegrityError as error:
        raise ProtocolError(str(error)) from None
    if (
        status.state not in STATES
        or status.text != plain_text(status.text)
        or not 0 <= status.time < LAST_MOMENT
    ):
        raise ProtocolError(
            f"{status.seat} sent a status that this version does not know or that is not safe to "
            "print: install the same version of lotor on both sides"
        )


class StatusExchange:
    """The last status of each party of one run, by seat, as this party knows it."""

    def __init__(
        self, agreement: RunAgreement, connections: Connections, peers: RunPeers, journal: Journal
    ) -> None:
        self.known: dict[str, Status] = {}
        self._run = agreement.run
        self._identity = agreement.identity
        self._seat = agreement.seat
        self._connections = connections
        self._peers = peers
        self._journal = journal
        # A clock that was set back must not silence this party.
        kept = journal.statuses(self._run).get(self._seat)
        self._last_said = 0.0 if kept is None else msgspec.msgpack.decode(kept, type=Status).time

    @property
    def own(self) -> Status | None:
        return self.known.get(self._seat)

    def say(self, state: str, text: str, t: int) -> None:
        """Tell all peers this party's own status, and keep it."""
        status = self._renew(state, text, t)
        for name in self._peers.present().values():
            self._connections.send(name, status)
        self._keep(status)

    def say_round(self, t: int, seat: str) -> None:
        """Tell one seat how far this party is; nothing else has changed, so nothing is kept."""
        own, name = self.own, self._peers.present().get(seat)
        if own is not None:
            status = self._renew(own.state, own.text, t)
            if name is not None:
                self._connections.send(name, status)

    def _renew(self, state: str, text: str, t: int) -> Status:
        before = self._last_said if self.own is None else self.own.time
        status = make(self._identity, self._run, state, text, t, before)
        self.known[self._seat] = status
        return status

    def _keep(self, status: Status) -> None:
        self._journal.keep_status(self._run, status.seat, msgspec.msgpack.encode(status))

    def repeat(self, name: str) -> None:
        """Tell all that is known to a peer that has just connected."""
        for status in self.known.values():
            self._connections.send(name, status)

    def hear(self, status: Status, sender: str) -> bool:
        """Keep a status of another party and pass it on; False when it says nothing new.

        A status that its party has not signed is refused before anything else.
        """
        check(self._identity, status)
        known = self.known.get(status.seat)
        if status.seat == self._seat or (known is not None and known.time >= status.time):
            return False
        self.known[status.seat] = status
        news = known is None or (known.state, known.text) != (status.state, status.text)
        if news:
            for name in self._peers.present().values():
                if name != sender:
                    self._connections.send(name, status)
        self._keep(status)
        return news

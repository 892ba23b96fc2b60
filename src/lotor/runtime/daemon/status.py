"""What the parties of a run say about it: signed, so that nobody speaks for another.

Each party keeps the last status of every party, and passes news on to all that it is connected to.
"""

import time
from collections.abc import Mapping

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

MISSING, IN_DOUBT, BLOCKED, PAUSED = "missing", "in doubt", "blocked", "paused"
_HELD_UP = (MISSING, IN_DOUBT, BLOCKED, PAUSED)
STATES = (WAITING, RUNNING, *_HELD_UP, FINISHED, STOPPED, FAILED, REFUSED)


def _signed_part(status: Status) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(status, signature=b""))


def make(
    identity: Identity,
    run: str,
    state: str,
    text: str,
    t: int,
    after: float,
    since: float | None = None,
    missing: Mapping[str, float] | None = None,
    held: int = 0,
    opens: float = 0.0,
) -> Status:
    """A status that is later than the one at `after`; its state is a new one unless `since`."""
    moment = max(time.time(), after + 1e-3)
    status = Status(
        run,
        identity.name,
        moment,
        state,
        plain_text(text),
        t,
        since=moment if since is None else since,
        missing=dict(missing or {}),
        held=held,
        opens=opens,
    )
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
    moments = (status.time, status.since, status.opens, *status.missing.values())
    if (
        status.state not in STATES
        or any(text != plain_text(text) for text in (status.text, *status.missing))
        or not all(0 <= moment < LAST_MOMENT for moment in moments)
    ):
        raise ProtocolError(
            f"{status.seat} sent a status that this version does not know or that is not safe to "
            "print: install the same version of lotor on both sides"
        )


def read_kept(rows: Mapping[str, bytes]) -> dict[str, Status]:
    """The statuses in a journal, by seat."""
    return {seat: msgspec.msgpack.decode(data, type=Status) for seat, data in rows.items()}


def _said(status: Status) -> tuple[str, str, Mapping[str, float]]:
    return status.state, status.text, status.missing


class StatusExchange:
    """The last status of each party of one run, by seat, as this party knows it."""

    def __init__(
        self, agreement: RunAgreement, connections: Connections, peers: RunPeers, journal: Journal
    ) -> None:
        self.known: dict[str, Status] = {}
        self._run = agreement.run
        self._identity = agreement.identity
        self._seat = agreement.seat
        self._members = agreement.members
        self._connections = connections
        self._peers = peers
        self._journal = journal
        self._before = read_kept(journal.statuses(self._run)).get(self._seat)
        if self._before is not None:
            peers.recall(self._before.missing)

    @property
    def own(self) -> Status | None:
        return self.known.get(self._seat)

    def say(self, state: str, text: str, missing: Mapping[str, float], t: int) -> None:
        """Tell all peers this party's own status, if it has changed, and keep it."""
        if self.own is not None and _said(self.own) == (state, text, missing):
            return
        status = self._renew(state, text, missing, t)
        for name in self._peers.present().values():
            self._connections.send(name, status)
        self._keep(status)

    def say_round(self, t: int, held: int, opens: float, seat: str) -> None:
        """Tell one seat how far this party is; nothing else has changed, so nothing is kept."""
        own, name = self.own, self._peers.present().get(seat)
        if own is not None and (own.round, own.held, own.opens) != (t, held, opens):
            status = self._renew(own.state, own.text, own.missing, t, held, opens)
            if name is not None:
                self._connections.send(name, status)

    def _renew(
        self,
        state: str,
        text: str,
        missing: Mapping[str, float],
        t: int,
        held: int = 0,
        opens: float = 0.0,
    ) -> Status:
        # What was said before a restart counts: the state may have begun then, and a clock that
        # was set back must not silence this party.
        last = self.own or self._before
        after = 0.0 if last is None else last.time
        since = None if last is None or last.state != state else last.since
        if state == MISSING and missing:
            since = min(missing.values())
        status = make(self._identity, self._run, state, text, t, after, since, missing, held, opens)
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
        if not status.missing.keys() <= self._members.keys():
            raise ProtocolError(
                f"{status.seat} misses a party that is not in the run: its status cannot be used"
            )
        known = self.known.get(status.seat)
        if status.seat == self._seat or (known is not None and known.time >= status.time):
            return False
        self.known[status.seat] = status
        news = known is None or _said(known) != _said(status)
        if news:
            for name in self._peers.present().values():
                if name != sender:
                    self._connections.send(name, status)
        self._keep(status)
        return news

"""One run at one party's daemon, from its announcement to its end."""

import asyncio
import logging
from datetime import UTC, datetime
from typing import Protocol as Interface

import msgspec

from lotor.core.errors import JournalError, JournalWriteError, LotorError
from lotor.crypto.certificates import Certificate
from lotor.protocols.deployment import Offer, Place
from lotor.protocols.party import Party
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import Table
from lotor.runtime.daemon.answering import Answering
from lotor.runtime.daemon.frames import Open, Status
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING
from lotor.runtime.durable.frames import Ack, Data, Frame, Join
from lotor.runtime.durable.host import Asked, Host, first_snapshot
from lotor.runtime.durable.journal import ENDED, FAILED, FINISHED, RUNNING, WAITING, Journal


class House(Interface):
    """What a run needs of its daemon."""

    @property
    def journal(self) -> Journal: ...

    @property
    def offer(self) -> Offer: ...

    @property
    def trial_seed(self) -> int | None: ...

    @property
    def wait(self) -> float: ...

    def send(self, name: str, frame: Frame) -> None:
        """To the party with this name, if it is connected."""

    def present(self, member: Certificate) -> bool:
        """Whether this very party, by its key, is connected."""

    def away(self, name: str) -> float:
        """For how many seconds it has not been connected."""

    def answering(self, host: Host, log: RunLog) -> Answering | None:
        """How pulls are answered here; None where nothing is pulled."""

    def fatal(self, error: LotorError) -> None:
        """The daemon cannot go on."""


class LiveRun:
    """`state` and `note` are as in the journal; `over` is set when nothing more will happen."""

    def __init__(self, table: Table, house: House, state: str, note: str) -> None:
        self.table = table
        self.state = state
        self.note = note
        self.host: Host | None = None
        self.statuses: dict[str, Status] = {}
        self.over = asyncio.Event()
        self.log = RunLog(logging.getLogger("lotor.daemon"), table.run)
        self._house = house
        self._answering: Answering | None = None
        self._task: asyncio.Task[None] | None = None
        self._early: dict[str, Join] = {}
        self._blocked: dict[str, str] = {}
        self._names = table.peers
        self._said = ("", "")
        self._told_round = 0

    @property
    def run(self) -> str:
        return self.table.run

    @property
    def seat(self) -> str:
        return self.table.seat

    def seat_of(self, name: str) -> str | None:
        """The seat of a peer that this party talks to, by the name in its certificate."""
        return next((seat for seat, peer in self._names.items() if peer == name), None)

    # -- beginning and going on --------------------------------------------------------------

    def new_party(self) -> Party:
        return self.table.deployment.party(self._place())

    def _place(self) -> Place:
        return Place(
            run=self.run,
            seat=self.seat,
            order=self.table.announcement.order,
            identity=self.table.identity,
            offer=self._house.offer,
            trial_seed=self._house.trial_seed,
        )

    def begin(self) -> None:
        """A run that waited for approval starts."""
        self._house.journal.begin(self.run, first_snapshot(self.new_party()))
        self.state, self.note = RUNNING, ""
        self.resume()

    def resume(self) -> None:
        """Go on from the journal, and tell all peers who are there."""
        place = self._place()

        def rebuild(snapshot: bytes) -> Party:
            return self.table.deployment.party(place, snapshot)

        record = self._house.journal.record(self.run)
        self.host = Host(self.seat, rebuild, record, self._names, self._send)
        self._answering = self._house.answering(self.host, self.log)
        if self._answering is not None:
            self._answering.changed = self.tell
        self.log.info(
            "goes on from round %d" if self.host.round else "starts",
            *([self.host.round] if self.host.round else []),
            extra={"event": "resumed", "round": self.host.round},
        )
        for name in self._names.values():
            self.greet(name)
        for seat, join in list(self._early.items()):
            self.joined(seat, join)
        self._early.clear()
        self.advance()

    def greet(self, name: str) -> None:
        """The first words to a peer on a new connection."""
        seat = self.seat_of(name)
        if seat is None or not self._house.present(self.table.members[seat]):
            return
        house, table = self._house, self.table
        house.send(name, Open(self.run, table.signed, table.signature))
        for status in self.statuses.values():
            house.send(name, status)
        if self.host is not None:
            house.send(name, self.host.join_to(seat))

    def _send(self, seat: str, frame: Frame) -> None:
        self._house.send(self._names[seat], frame)

    # -- what arrives ------------------------------------------------------------------------

    def joined(self, seat: str, join: Join) -> None:
        """A peer's counters, on a new connection."""
        if self.host is None and self.state == FINISHED:
            self.resume()
        if self.host is None:
            self._early[seat] = join
            return
        try:
            self.host.joined(seat, join)
        except JournalError as error:
            self.log.error(str(error), extra={"event": "old-journal", "peer": seat})
            self._blocked[seat] = str(error)
        else:
            self._blocked.pop(seat, None)
        self.tell()
        self.advance()

    def received(self, seat: str, frame: Data | Ack) -> None:
        host = self.host
        if host is not None and host.links[seat].joined:
            host.received(seat, frame)
            self.advance()

    def parted(self, seat: str) -> None:
        self._early.pop(seat, None)
        if self.host is not None:
            self.host.parted(seat)

    # -- what the party does -----------------------------------------------------------------

    def advance(self) -> None:
        """Let the party go on as far as it can, and see to what it asks for."""
        host = self.host
        if host is None or self._task is not None:
            return
        try:
            host.advance()
            while self._answering is not None and self._answering.at_once:
                host.answered(None)
                host.advance()
        except JournalWriteError as error:
            self._house.fatal(error)
            return
        except LotorError as error:
            self.end(FAILED, f"{self.seat}: {error}")
            return
        if host.asked is not None:
            self._answer()
        if host.finished:
            self._finished(host)

    def _answer(self) -> None:
        host, answering = self.host, self._answering
        if host is None or host.asked is None:
            return
        if answering is None:
            self.end(FAILED, f"{self.seat} is asked to pull an arm, but holds none")
        elif answering.doubt is None:
            self._task = asyncio.create_task(self._answered(answering, host.asked))

    async def _answered(self, answering: Answering, asked: Asked) -> None:
        try:
            answered = await answering.answer(asked)
        except JournalWriteError as error:
            self._house.fatal(error)
            return
        self._task = None
        if answered:
            self.advance()

    def _finished(self, host: Host) -> None:
        if self.state == RUNNING:
            self._house.journal.change(self.run, FINISHED, "")
            self.state, self.note = FINISHED, ""
            self.log.info("finished", extra={"event": "finished", "round": host.round})
            self.tell()
        if host.drained:
            host.settle()
            self.over.set()

    # -- what people decide ------------------------------------------------------------------

    def resolve(self, decision: str, reward: float | None) -> bool:
        """A person says what became of a pull in doubt; False when it is too early to tell."""
        host, answering = self.host, self._answering
        if host is None or answering is None or host.asked is None or host.asked.decision is None:
            self.log.warning("nothing is in doubt here", extra={"event": "resolve"})
            return True
        if answering.doubt is None:
            return host.asked.decision.id != decision
        if answering.doubt.id != decision:
            self.log.warning(
                f"decision {answering.doubt.id} is in doubt, not {decision}",
                extra={"event": "resolve"},
            )
            return True
        answering.resolved(reward)
        self.advance()
        return True

    def end(self, state: str, note: str) -> None:
        """Stop here, and let everybody know."""
        if self.state in (*ENDED, FINISHED):
            return
        self._house.journal.change(self.run, state, note)
        self.state, self.note = state, note
        self.drop()
        self.log.error(f"ended: {note}", extra={"event": state})
        self.tell()
        self.over.set()

    def drop(self) -> None:
        """Let go of the party; the journal has all that counts."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self.host is not None:
            self.host.close()
            self.host = None

    # -- what everybody is told ----------------------------------------------------------------

    def tell(self) -> None:
        """Say how the run stands here, if that has changed."""
        state, text = self._standing()
        note = self.note if self.state in ENDED else self._own_note() or text
        if note != self.note:
            self.note = note
            self._house.journal.change(self.run, self.state, note)
        if (state, text) != self._said:
            self._said = state, text
            self._publish(state, text)

    def _own_note(self) -> str:
        """What only this party's operator is to read: others would learn whom was pulled."""
        if self.state == WAITING:
            return self.note
        return self._answering.trouble if self._answering is not None else ""

    def tell_round(self) -> None:
        """Let the opener know how far the run is, if this party talks to it."""
        host, opener = self.host, self.table.deployment.opener
        if host is not None and host.round != self._told_round and opener in self._names:
            self._told_round = host.round
            self._publish(*self._said, only=opener)

    def _publish(self, state: str, text: str, only: str | None = None) -> None:
        before = self.statuses.get(self.seat)
        t = self.host.round if self.host is not None else before.round if before else 0
        status = statuses.make(
            self.table.identity, self.run, state, text, t, before.time if before else 0.0
        )
        self.statuses[self.seat] = status
        for seat, name in self._names.items():
            if only in (None, seat) and self._house.present(self.table.members[seat]):
                self._house.send(name, status)

    def _standing(self) -> tuple[str, str]:
        if self.state != RUNNING:
            return self.state, self.note
        if self._blocked:
            return BLOCKED, "; ".join(self._blocked.values())
        if self._answering is not None and self._answering.trouble:
            return IN_DOUBT, f"{self.seat} waits for its operator"
        missing = self.missing()
        if missing:
            return MISSING, "waits for " + ", ".join(
                f"{seat}, away since {since:%H:%M:%S} UTC" for seat, since in missing.items()
            )
        return RUNNING, ""

    def missing(self) -> dict[str, datetime]:
        """The peers that are not connected, and since when."""
        now = datetime.now(UTC).timestamp()
        return {
            seat: datetime.fromtimestamp(now - self._house.away(name), UTC)
            for seat, name in self._names.items()
            if not self._house.present(self.table.members[seat])
        }

    def look_after(self) -> None:
        """From time to time: who is missing, and for how long already?"""
        if self.state == RUNNING and self.host is not None:
            for seat, name in self._names.items():
                away = self._house.away(name)
                if away > self._house.wait and not self._house.present(self.table.members[seat]):
                    self.end(
                        FAILED,
                        f"{seat} stayed away for {away:.0f} s, longer than {self.seat} waits "
                        f"({self._house.wait:g} s: `wait` in its party.toml)",
                    )
                    return
        if self.state in (RUNNING, WAITING):
            self.tell()
            self.tell_round()

    def heard(self, status: Status, sender: str) -> None:
        """What some party says about the run; passed on when it is news."""
        known = self.statuses.get(status.seat)
        if status.seat == self.seat or (known is not None and known.time >= status.time):
            return
        statuses.check(self.table.identity, status)
        self.statuses[status.seat] = status
        self._house.journal.keep_status(self.run, status.seat, msgspec.msgpack.encode(status))
        if known is None or (known.state, known.text) != (status.state, status.text):
            self.log.info(
                f"{status.seat} is {status.state}" + (f": {status.text}" if status.text else ""),
                extra={"event": "status", "peer": status.seat, "round": status.round},
            )
            for name in self._names.values():
                if name != sender:
                    self._house.send(name, status)
        if status.state in ENDED:
            self.end(status.state, status.text or f"{status.state} by {status.seat}")

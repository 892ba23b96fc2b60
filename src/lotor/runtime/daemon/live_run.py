"""One run at one party's daemon, from its announcement to its end."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from lotor.core.effects import Exclusion
from lotor.core.errors import JournalError, JournalWriteError, LotorError
from lotor.protocols.party import Party
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.continuing import earlier_of
from lotor.runtime.daemon.departures import Departures
from lotor.runtime.daemon.frames import ExclusionAgreed, Open, PartiesExcluded, Status, Told
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_driver import DriverEvents, RunDriver
from lotor.runtime.daemon.run_losses import RunLosses
from lotor.runtime.daemon.run_pacing import RunPacing
from lotor.runtime.daemon.run_peers import RunPeers
from lotor.runtime.daemon.status import StatusExchange
from lotor.runtime.daemon.told_state import ToldState, moment, told_state
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import ENDED, FAILED, FINISHED, RUNNING, STOPPED, WAITING


class LiveRun:
    """`state` and `note` are as in the journal; `over` is set when nothing more will happen."""

    def __init__(self, agreement: RunAgreement, context: RunContext, state: str, note: str) -> None:
        self.agreement = agreement
        self.run = agreement.run
        self.seat = agreement.seat
        self.state = state
        self.note = note
        self.host: Host | None = None
        self.over = asyncio.Event()
        self.log = RunLog(logging.getLogger("lotor.daemon"), agreement.run)
        self._context = context
        self._journal = context.journal
        self._send = context.connections.send
        self._store = context.journal.stores.of(agreement.run)
        self.peers = RunPeers(agreement, context.connections)
        self.losses = RunLosses(agreement, context, self.peers)
        self.statuses = StatusExchange(agreement, context.connections, self.peers, context.journal)
        self.pacing = RunPacing(agreement, context, self.peers, self.advance)
        self._driver: RunDriver | None = None
        self._early: dict[str, Join] = {}
        self._blocked: dict[str, str] = {}
        self._closed = False

    @property
    def open(self) -> bool:
        """Whether there is anything left to tell a peer that comes back."""
        return self.state in (RUNNING, WAITING) or self.host is not None

    @property
    def round(self) -> int:
        """The round that others may know of."""
        return self._driver.round if self._driver is not None else 0

    @property
    def busy(self) -> bool:
        """Whether the party is in the middle of a step or an answer."""
        return self._driver is not None and self._driver.busy

    def new_party(self) -> Party:
        earlier = earlier_of(self._context, self.agreement)
        assignment = self._context.assignment(self.agreement, self._store, earlier)
        return self.agreement.form.party(assignment)

    def resume(self) -> None:
        """Go on from the journal, and tell all peers that are connected."""
        assignment = self._context.assignment(self.agreement, self._store)
        owner = self._context.config.owner
        self.host = Host(
            self.seat,
            partial(self.agreement.form.party, assignment),
            self._journal.record(self.run),
            self.peers.names,
            self._send_to_seat,
            admits=lambda seat: self._context.connections.admits(self.peers.names[seat]),
            alike=owner is not None and owner.tick > 0.0,
            inbox=owner is not None and owner.inbox,
            gate=self.pacing.gate,
            seal=partial(self._context.seal.seal, self.run) if self.agreement.keeps else None,
        )
        events = DriverEvents(
            finished=self._finish,
            failed=self._cannot_go_on,
            lacking=lambda lack: self.end(FAILED, f"{self.seat} {lack}"),
            changed=self.tell,
        )
        self._driver = RunDriver(self.run, self.host, self._context, self.log, events)
        self.log.info(
            f"goes on from round {self.round}" if self.round else "starts",
            extra={"event": "resumed", "round": self.round},
        )
        for name in self.peers.present().values():
            self.greet(name)
        for seat, join in list(self._early.items()):
            self.joined(seat, join)
        self._early.clear()
        self.advance()

    def greet(self, name: str) -> None:
        """The first words to a peer on a new connection."""
        agreement, seat = self.agreement, self.peers.seat_of(name)
        if self.peers.is_gone(seat):
            self.losses.greet(name)
            return
        self._send(name, Open(self.run, agreement.signed, agreement.signature))
        self.statuses.repeat(name)
        self.pacing.greet(name)
        self.losses.greet(name)
        host, driver = self.host, self._driver
        if host is not None and driver is not None and seat is not None:
            driver.departures.hold(seat, lambda: self._send(name, host.join_to(seat)))

    def _send_to_seat(self, seat: str, frame: RunFrame) -> None:
        driver = self._driver
        if driver is not None and driver.departures.closed:
            driver.departures.hold(
                seat, lambda: self._send_later(lambda: self._send(self.peers.names[seat], frame))
            )
        else:
            self._send(self.peers.names[seat], frame)

    def catch_up(self, seat: str) -> None:
        """The connection to a peer takes more again; what waits for it may have to wait on."""
        host, driver = self.host, self._driver
        if host is not None and driver is not None:
            driver.departures.hold(seat, lambda: self._send_later(lambda: host.catch_up(seat)))

    def _send_later(self, send: Callable[[], None]) -> None:
        """Send what the party has sent before; if that fails, so does the run."""
        try:
            send()
        except LotorError as error:
            self._fail(error)

    def _postpone(
        self, departures: Departures, seat: str, size: int, take: Callable[[], None]
    ) -> None:
        """Take a frame later: how this party takes it would tell how far it is."""

        def take_or_refuse() -> None:
            try:
                take()
            except JournalWriteError as error:
                self._context.fatal(error)
            except LotorError as error:
                name = self.peers.names[seat]
                self.log.warning(str(error), extra={"event": "refused", "peer": name})
                self._context.connections.transport.kick(name, error)

        departures.take(seat, size, take_or_refuse)

    def joined(self, seat: str, join: Join) -> None:
        """A peer's counters, on a new connection."""
        if self.peers.is_gone(seat):
            return
        if self.host is None and self.state == FINISHED:
            self.resume()  # the peer has not heard the end yet
        if self.host is None or self._driver is None:
            self._early[seat] = join
            return
        departures = self._driver.departures
        if departures.closed:
            self._postpone(departures, seat, 0, partial(self.joined, seat, join))
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
        host, driver = self.host, self._driver
        if host is None or driver is None or self.peers.is_gone(seat):
            return
        if driver.departures.closed:
            size = len(frame.payload) if type(frame) is Data else 0
            self._postpone(driver.departures, seat, size, partial(self.received, seat, frame))
        elif host.links[seat].joined and host.received(seat, frame):
            driver.advance()

    def parted(self, seat: str) -> None:
        """A peer's connection is gone."""
        self._early.pop(seat, None)
        if self._driver is not None:
            self._driver.departures.forget(seat)
        if self.host is not None:
            self.host.parted(seat)

    def heard(self, said: Told, sender: str) -> None:
        """What a party says to all others, which may have come by way of some of them."""
        if isinstance(said, Status):
            # Of one that has left, nothing counts any more, its end least of all.
            if said.seat not in self.losses.gone:
                self._heard_status(said, sender)
        elif isinstance(said, ExclusionAgreed | PartiesExcluded):
            self._heard_of_loss(said, sender)
        elif self.state in (RUNNING, WAITING):
            self.pacing.hear(said, sender)

    def _heard_of_loss(self, said: ExclusionAgreed | PartiesExcluded, sender: str) -> None:
        exclusion = self.losses.hear(said, sender)
        if exclusion is None:
            return
        if self.seat in exclusion.away:
            since = moment(exclusion.away[self.seat])
            self.stop(f"{self.seat} is excluded: it was away since {since}, and all others agreed")
        else:
            self._left(exclusion)
            self.tell()

    def _left(self, exclusion: Exclusion) -> None:
        for seat in exclusion.away:
            self.log.warning(
                f"{seat} has left the run for good, as all others agreed",
                extra={"event": "excluded", "peer": seat},
            )
            self._blocked.pop(seat, None)
            self.pacing.left(seat)

    def _exclude(self, host: Host, exclusion: Exclusion) -> None:
        """All agree, and the time is over: go on without those that are lost."""
        host.exclude(exclusion)
        self.losses.excluded(exclusion)
        self._left(exclusion)
        self.tell()
        self.advance()

    def _heard_status(self, status: Status, sender: str) -> None:
        news = self.statuses.hear(status, sender)
        if status.seat == self.seat:
            return
        if news:
            self.log.info(
                f"{status.seat} is {status.state}" + (f": {status.text}" if status.text else ""),
                extra={"event": "status", "peer": status.seat, "round": status.round},
            )
        self.pacing.heard(self.statuses.known[status.seat])
        if news and status.state in ENDED and self.state == FINISHED:
            self._cannot_be_continued(status)
        if status.state in ENDED and self.host is not None and self.host.finished:
            self.host.release(status.seat)
            self.advance()
        elif status.state in ENDED:
            self.end(status.state, status.text or f"{status.state} by {status.seat}")

    def _cannot_be_continued(self, status: Status) -> None:
        """A run that has finished here has ended without a result for whoever could continue it."""
        if status.seat == self.agreement.form.opener:
            self._journal.keep_nothing(self.run)

    def pause(self) -> None:
        """The operator lets no more rounds begin; what has begun comes to its end."""
        if self.state == RUNNING:
            self.pacing.pause()
            self.log.info("paused", extra={"event": "paused"})
            self.tell()

    def go_on(self) -> None:
        """The operator lets a run go on that was paused."""
        if self.state == RUNNING and self.pacing.paused:
            self.log.info("goes on", extra={"event": "unpaused"})
            self.pacing.resume()
            self.tell()

    def advance(self) -> None:
        """Let the party go on as far as it can, and see to what it asks for."""
        if self._driver is not None:
            self._driver.advance()

    def outcomes_told(self) -> None:
        """Outcomes of decisions may have been told here."""
        if self._driver is not None:
            self._driver.outcomes_told()

    def _cannot_go_on(self, host: Host, error: Exception) -> None:
        if isinstance(error, JournalWriteError):
            self._context.fatal(error)
        elif isinstance(error, JournalError) and not host.restored:
            self._set_aside(error)
        elif isinstance(error, LotorError):
            self._fail(error)
        else:
            # The text of an error that nobody has foreseen might show what is secret.
            self.end(FAILED, f"{self.seat} failed with {type(error).__name__}: report this")

    def _fail(self, error: LotorError) -> None:
        when = f" in round {self.round}" if self.round else ""
        try:
            self.end(FAILED, f"{self.seat}{when}: {error}")
        except JournalWriteError as unwritten:
            self._context.fatal(unwritten)

    def _set_aside(self, error: JournalError) -> None:
        """The party cannot be restored, but perhaps when its operator has put something right."""
        self.log.error(f"cannot go on: {error}", extra={"event": "cannot-resume"})
        self.drop()
        self._blocked[self.seat] = f"{self.seat} cannot go on with this run: see its log"
        self.tell()

    def _finish(self, host: Host) -> None:
        """Take note of the end, and once more when all peers have received everything."""
        ends = self.state == RUNNING
        if ends:
            self._journal.finish(self.run)
            self._store.remove()
            self.state, self.note = FINISHED, ""
            self.log.info("finished", extra={"event": "finished", "round": host.round})
            self.tell()
        if host.settle():
            self._journal.erasure.mark()
        # This writes the whole journal anew: for several peers that settle at once it is done once,
        # and at the latest when the node looks after its runs.
        if ends or host.drained:
            self._journal.erasure.complete()
        if host.drained:
            self.over.set()

    def resolve(self, verdict: Resolve) -> bool:
        """A person says what became of a question in doubt; False when it is too early to tell."""
        if self._driver is None or self.state != RUNNING:
            return True
        return self._driver.resolve(verdict)

    def end(self, state: str, note: str) -> None:
        """Stop here, and let everybody know."""
        if self.state not in (*ENDED, FINISHED):
            self._end(state, note)

    def stop(self, note: str) -> None:
        """The operator ends the run, also one that has finished here and waits for its peers."""
        if self.state == FINISHED and self.host is not None and not self.host.drained:
            self._end(STOPPED, note)
        self.end(STOPPED, note)

    def _end(self, state: str, note: str) -> None:
        self._journal.end(self.run, state, note)
        self.state, self.note = state, note
        self.drop()
        self._store.remove()
        self.log.error(f"ended: {note}", extra={"event": state})
        self.tell()
        self.over.set()

    def drop(self) -> None:
        """Let go of the party; the journal has all that counts."""
        if self._driver is not None:
            self._driver.close()
            self._driver = None
        if self.host is not None:
            self.host.close()
            self.host = None
        self.pacing.gate.close()

    def close(self) -> None:
        """This party stops: that its own connections end says nothing about its peers."""
        self._closed = True
        self.drop()

    def tell(self) -> None:
        """Say how the run stands here, if that has changed."""
        if self._closed:
            return
        told = self._told()
        note = self.note if self.state in ENDED else self._own_note() or told.text
        if note != self.note:
            self._journal.change(self.run, self.state, note)
            self.note = note
        self.statuses.say(told.state, told.text, told.missing, self.round)

    def _own_note(self) -> str:
        """A note for this party's operator alone: it would tell others which party was pulled."""
        if self.state == WAITING:
            return self.note
        trouble = self._driver.trouble if self._driver is not None else ""
        if trouble or self.state != RUNNING:
            return trouble
        others = [one for seat, one in self.statuses.known.items() if seat != self.seat]
        return self.pacing.note(*self._held(), others)

    def _held(self) -> tuple[int, float]:
        """The round that others may know to wait here, and when it begins."""
        if self._driver is None or not self._driver.departures.open:
            return 0, 0.0
        return self.pacing.gate.held, self.pacing.gate.opens

    def _told(self) -> ToldState:
        """The state that others are told, and its reason."""
        return told_state(
            self.seat,
            self.state,
            self.note,
            self.peers.missing(),
            self._blocked,
            in_doubt=self._driver is not None and self._driver.in_doubt,
            paused=self.pacing.paused,
        )

    def look_after(self) -> None:
        """Every second: warn of a peer that stays away long, and tell the opener the round."""
        if self.state == RUNNING and self.host is not None:
            for seat in self.peers.newly_overdue(self._context.config.limits.wait):
                self.log.warning(
                    f"{seat} stays away: the run is paused until it is back, or until "
                    f"`lotor runs stop {self.run}` ends it",
                    extra={"event": "long-missing", "peer": seat},
                )
            exclusion = self.losses.due(self.host.missed, self.peers.missing())
            if exclusion is not None:
                self._exclude(self.host, exclusion)
        if self.state == RUNNING and self.host is not None and self.host.lacks_outcomes:
            self.outcomes_told()  # the time to wait for them may be over
        if self.state in (RUNNING, WAITING):
            self.tell()
            if self.agreement.form.opener in self.peers.names:
                self.statuses.say_round(self.round, *self._held(), self.agreement.form.opener)
        elif self.state == FINISHED and self.host is not None and self.host.drained:
            self.drop()  # a peer that has not heard the end brings it back

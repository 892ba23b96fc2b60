"""One run at one party's daemon, from its announcement to its end."""

import asyncio
import logging

import msgspec

from lotor.core.errors import (
    InputError,
    JournalError,
    JournalWriteError,
    LotorError,
    PullError,
)
from lotor.protocols.deployment import Place
from lotor.protocols.party import Party
from lotor.runtime.daemon.announcement import Table
from lotor.runtime.daemon.answering import Answering
from lotor.runtime.daemon.attendance import Attendance
from lotor.runtime.daemon.bulletin import Bulletin
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.frames import Open, Status
from lotor.runtime.daemon.house import House
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING
from lotor.runtime.durable.background_step import BackgroundStep, run_in_thread
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.host import Host, first_snapshot
from lotor.runtime.durable.journal import (
    ENDED,
    FAILED,
    FINISHED,
    REFUSED,
    RUNNING,
    WAITING,
    Journal,
)
from lotor.runtime.durable.questions import Question

NOTHING_HERE = "is asked for something, but its party.toml has no [owner] table"


class LiveRun:
    """`state` and `note` are as in the journal; `over` is set when nothing more will happen."""

    def __init__(self, table: Table, house: House, state: str, note: str) -> None:
        self.table = table
        self.state = state
        self.note = note
        self.host: Host | None = None
        self.over = asyncio.Event()
        self.log = RunLog(logging.getLogger("lotor.daemon"), table.run)
        self.bulletin = Bulletin(table, house.send, self.there, _last_said(house.journal, table))
        self._house = house
        self._store = house.journal.stores.of(table.run)
        self._names = table.peers
        self._seats = {name: seat for seat, name in self._names.items()}
        self._attendance = Attendance(self._names, self._present, house.away)
        self._answering: Answering | None = None
        self._task: asyncio.Task[None] | None = None
        self._early: dict[str, Join] = {}
        self._blocked: dict[str, str] = {}

    @property
    def run(self) -> str:
        return self.table.run

    @property
    def seat(self) -> str:
        return self.table.seat

    @property
    def open(self) -> bool:
        """Whether there is anything left to be said about it to a peer that comes back."""
        return self.state in (RUNNING, WAITING) or self.host is not None

    @property
    def round(self) -> int:
        return self.host.round if self.host is not None else 0

    def seat_of(self, name: str) -> str | None:
        """The seat of a peer that this party talks to, by the name in its certificate."""
        return self._seats.get(name)

    def there(self) -> dict[str, str]:
        """The peers that are connected, with their names."""
        return {seat: name for seat, name in self._names.items() if self._present(seat)}

    def _present(self, seat: str) -> bool:
        return self._house.present(self.table.members[seat])

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
            brings=self._house.brings,
            data=self._house.data,
            store=self._store,
            workers=self._house.workers,
        )

    def begin(self) -> None:
        """A run that waited for approval starts."""
        try:
            snapshot = first_snapshot(self.new_party())
        except InputError as error:
            self.end(REFUSED, f"{self.seat}: {error}")
            return
        self._house.journal.begin(self.run, snapshot, repeatable=self._house.repeatable)
        self.state, self.note = RUNNING, ""
        self.resume()

    def resume(self) -> None:
        """Go on from the journal, and tell all peers who are there."""
        place = self._place()

        def rebuild(snapshot: bytes) -> Party:
            return self.table.deployment.party(place, snapshot)

        record = self._house.journal.record(self.run)
        self.host = Host(
            self.seat,
            rebuild,
            record,
            self._names,
            self._send,
        )
        self._answering = self._house.answering(self.host, self.log)
        if self._answering is not None:
            self._answering.changed = self.tell
        self.log.info(
            f"goes on from round {self.round}" if self.round else "starts",
            extra={"event": "resumed", "round": self.round},
        )
        for name in self.there().values():
            self.greet(name)
        for seat, join in list(self._early.items()):
            self.joined(seat, join)
        self._early.clear()
        self.advance()

    def greet(self, name: str) -> None:
        """The first words to a peer on a new connection."""
        table, seat = self.table, self.seat_of(name)
        self._house.send(name, Open(self.run, table.signed, table.signature))
        self.bulletin.repeat(name)
        if self.host is not None and seat is not None:
            self._house.send(name, self.host.join_to(seat))

    def _send(self, seat: str, frame: RunFrame) -> None:
        self._house.send(self._names[seat], frame)

    def joined(self, seat: str, join: Join) -> None:
        """A peer's counters, on a new connection."""
        if self.host is None and self.state == FINISHED:
            self.resume()  # the peer has not heard the end yet
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

    def heard(self, status: Status, sender: str) -> None:
        """What some party says about the run."""
        news = self.bulletin.heard(status, sender)
        if status.seat == self.seat:
            return
        if self.bulletin.known.get(status.seat) is status:
            self._house.journal.keep_status(self.run, status.seat, msgspec.msgpack.encode(status))
        if news:
            self.log.info(
                f"{status.seat} is {status.state}" + (f": {status.text}" if status.text else ""),
                extra={"event": "status", "peer": status.seat, "round": status.round},
            )
        if status.state in ENDED:
            self.end(status.state, status.text or f"{status.state} by {status.seat}")

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
            self._see_to(host)
        except JournalWriteError as error:
            self._house.fatal(error)
        except JournalError as error:
            if host.restored:
                self._fail(error)
            else:
                self._set_aside(error)
        except LotorError as error:
            self._fail(error)
        except Exception as error:
            # Of an error that nobody has foreseen the text might show what is secret.
            self.end(FAILED, f"{self.seat} failed with {type(error).__name__}: report this")

    def _fail(self, error: LotorError) -> None:
        when = f" in round {self.round}" if self.round else ""
        self.end(FAILED, f"{self.seat}{when}: {error}")

    def _set_aside(self, error: JournalError) -> None:
        """The party cannot be restored, but maybe once its operator has mended something."""
        self.log.error(f"cannot go on: {error}", extra={"event": "cannot-resume"})
        self.drop()
        self._blocked[self.seat] = f"{self.seat} cannot go on with this run: see its log"
        self.tell()

    def _see_to(self, host: Host) -> None:
        if host.background_step is not None:
            self._task = asyncio.create_task(self._run_step(host.background_step))
        elif host.asked is not None:
            self._answer(host.asked)
        if host.finished and self.state == RUNNING:
            self._house.journal.change(self.run, FINISHED, "")
            self._store.remove()
            self.state, self.note = FINISHED, ""
            self.log.info("finished", extra={"event": "finished", "round": host.round})
            self.tell()
        if host.drained:
            host.settle()
            self.over.set()

    def _answer(self, asked: Question) -> None:
        answering = self._answering
        lack = NOTHING_HERE if answering is None else answering.lack(asked)
        if answering is None or lack is not None:
            self.end(FAILED, f"{self.seat} {lack}")
        elif answering.doubt is None:
            self._task = asyncio.create_task(self._answered(answering, asked))

    async def _run_step(self, step: BackgroundStep) -> None:
        await run_in_thread(step)
        self._task = None
        self.advance()

    async def _answered(self, answering: Answering, asked: Question) -> None:
        try:
            answered = await answering.answer(asked)
        except LotorError as error:  # it could not be written down
            self._house.fatal(error)
            return
        self._task = None
        if answered:
            self.advance()

    def resolve(self, verdict: Resolve) -> bool:
        """A person says what became of a question in doubt; False when it is too early to tell."""
        host, answering = self.host, self._answering
        asked = host.asked if host is not None else None
        if answering is None or self.state != RUNNING:
            return True
        if asked is None or asked.decision is None or asked.decision.id != verdict.decision:
            # The party may not have come to it again yet.
            return self._house.journal.answered(self.run, verdict.decision)
        if not answering.trouble:
            return answering.may_repeat(verdict.decision)
        if self._task is not None:  # it goes on asking, in vain
            self._task.cancel()
            self._task = None
        try:
            answering.resolved(asked, verdict)
        except (InputError, PullError) as error:
            self.log.error(str(error), extra={"event": "not-resolved"})
        self.advance()
        return True

    def end(self, state: str, note: str) -> None:
        """Stop here, and let everybody know."""
        if self.state in (*ENDED, FINISHED):
            return
        self._house.journal.change(self.run, state, note)
        self.state, self.note = state, note
        self.drop()
        self._store.remove()
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

    def tell(self) -> None:
        """Say how the run stands here, if that has changed."""
        state, text = self._standing()
        note = self.note if self.state in ENDED else self._own_note() or text
        if note != self.note:
            self._house.journal.change(self.run, self.state, note)
            self.note = note
        own = self.bulletin.own
        if own is None or (own.state, own.text) != (state, text):
            self.bulletin.say(state, text, self.round)
            own = self.bulletin.own
            self._house.journal.keep_status(self.run, self.seat, msgspec.msgpack.encode(own))

    def _own_note(self) -> str:
        """What only this party's operator is to read: others would learn who was pulled."""
        if self.state == WAITING:
            return self.note
        return self._answering.trouble if self._answering is not None else ""

    def _standing(self) -> tuple[str, str]:
        if self.state != RUNNING:
            return self.state, self.note
        if self._blocked:
            return BLOCKED, "; ".join(self._blocked.values())
        if self._answering is not None and self._answering.trouble:
            return IN_DOUBT, f"{self.seat} waits for its operator"
        if missing := self._attendance.missing():
            return MISSING, "waits for " + ", ".join(
                f"{seat}, away since {absence.since:%H:%M:%S} UTC"
                for seat, absence in missing.items()
            )
        return RUNNING, ""

    def look_after(self) -> None:
        """From time to time: who stays away too long, and does the opener know how far we are?"""
        if self.state == RUNNING and self.host is not None:
            for seat, absence in self._attendance.missing().items():
                if absence.seconds > self._house.wait:
                    limit = f"{self._house.wait:g} s: `wait` in its party.toml"
                    self.end(
                        FAILED,
                        f"{seat} stayed away for {absence.seconds:.0f} s, longer than "
                        f"{self.seat} waits ({limit})",
                    )
        if self.state in (RUNNING, WAITING):
            self.tell()
            own, opener = self.bulletin.own, self.table.deployment.opener
            if own is not None and own.round != self.round and opener in self._names:
                self.bulletin.say(own.state, own.text, self.round, only=opener)
        elif self.state == FINISHED and self.host is not None and self.host.drained:
            self.drop()  # a peer that has not heard the end brings it back


def _last_said(journal: Journal, table: Table) -> float:
    """When this party last said something about the run: a clock set back must not silence it."""
    kept = journal.statuses(table.run).get(table.seat)
    return 0.0 if kept is None else msgspec.msgpack.decode(kept, type=Status).time

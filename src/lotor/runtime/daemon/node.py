"""A party's daemon: its connections and its runs."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress

from lotor.core.errors import (
    JournalError,
    JournalWriteError,
    LotorError,
    ProtocolError,
)
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, Subject
from lotor.protocols.catalogue import DEPLOYMENTS
from lotor.protocols.deployment import Deployment, Offer
from lotor.runtime.daemon.answering import Answering
from lotor.runtime.daemon.clerk import Clerk
from lotor.runtime.daemon.clock import Clock, SystemClock
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.docket import Docket
from lotor.runtime.daemon.frames import (
    WIRE_VERSION,
    AnyFrame,
    Ask,
    Card,
    Open,
    Roster,
    Status,
    decode,
    encode,
    read_card,
)
from lotor.runtime.daemon.holdings import Holdings
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import (
    JOURNAL_VERSION,
    Journal,
)
from lotor.transport import Hello, Limits, NetworkTransport, Tls

LOOK_SECONDS = 0.2
_log = logging.getLogger("lotor.daemon")


class Node:
    """Drives all runs of one party."""

    def __init__(
        self,
        kit: Kit,
        config: PartyConfig,
        journal: Journal,
        *,
        deployments: Mapping[str, Deployment] = DEPLOYMENTS,
        clock: Clock | None = None,
    ) -> None:
        self.kit = kit
        self.config = config
        self.journal = journal
        self.cards: dict[str, Card] = {}
        self.error: LotorError | None = None
        self.ended = asyncio.Event()
        self.deployments = deployments
        self._clock = clock or SystemClock()
        self._me = kit.subject.name
        self._sessions: dict[str, int] = {}
        self._keys: dict[str, bytes] = {}
        self._docket = Docket(self, kit, config, deployments)
        self._clerk = Clerk(self)
        self._keeper: asyncio.Task[None] | None = None
        self._holdings = Holdings(kit, config)
        self.transport = NetworkTransport(
            me=kit.subject,
            tls=Tls(kit.certificate_path, kit.key_path, kit.fresh_trust),
            listen=config.listen,
            dial=config.peers,
            hello=self._hello,
            admit=self._admit,
            changed=self._changed,
            limits=Limits(
                max_frame=config.limits.max_frame,
                handshake=config.limits.handshake,
                keep_alive=config.limits.keep_alive,
            ),
        )

    async def start(self) -> None:
        """Listen, dial, and go on with every run that has not ended."""
        self.kit.fresh_trust().check(self.kit.certificate)
        await self.transport.start()
        _log.info(
            "%s serves as %s%s",
            self._me,
            self.kit.subject.role,
            f" on port {self.transport.address[1]}" if self.transport.address else "",
            extra={"event": "serving"},
        )
        self._docket.restore()
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        await self._clerk.close()
        for live in self.runs.values():
            live.drop()
        await self.transport.close()
        self._holdings.close()

    async def _keep(self) -> None:
        """What must be looked at from time to time."""
        looks = 0
        while self.error is None:
            try:
                self._clerk.obey()
                if looks % 5 == 0:
                    for live in list(self.runs.values()):
                        live.look_after()
            except LotorError as error:
                self.fatal(error)
            except sqlite3.Error as error:
                self.fatal(JournalError(f"the journal cannot be read ({error}): check the disk"))
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)

    def fatal(self, error: LotorError) -> None:
        """Nothing can be written down any more: stop, and go on after a restart."""
        _log.critical(str(error), extra={"event": "fatal"})
        self.error = error
        self.ended.set()

    @property
    def runs(self) -> Mapping[str, LiveRun]:
        return self._docket.runs

    def add(self, live: LiveRun, snapshot: bytes | None) -> None:
        self._docket.add(live, snapshot)

    @property
    def offer(self) -> Offer:
        return self._holdings.offer

    @property
    def data(self) -> object:
        return self._holdings.data

    @property
    def trial_seed(self) -> int | None:
        return None if self.config.trial is None else self.config.trial.seed

    @property
    def brings(self) -> frozenset[str]:
        return self._holdings.brings

    @property
    def repeatable(self) -> bool:
        return self._holdings.repeatable

    @property
    def workers(self) -> int:
        return self.config.limits.workers

    @property
    def wait(self) -> float:
        return self.config.limits.wait

    def send(self, name: str, frame: RunFrame) -> None:
        self.transport.send(self._me, name, encode(frame))

    def present(self, member: Certificate) -> bool:
        return self._keys.get(member.subject.name) == member.key_bytes

    def forget_absent(self) -> None:
        """Cards of parties that are not connected here may be old: they are asked for anew."""
        self.cards = {name: card for name, card in self.cards.items() if name in self._keys}

    def stop_aside(self, run: str, reason: str) -> None:
        self._docket.stop_aside(run, reason)

    def neighbours(self) -> list[str]:
        return list(self._keys)

    def away(self, name: str) -> float:
        since = self.transport.down_since(name)
        return 0.0 if since is None else time.monotonic() - since

    def answering(self, host: Host, log: RunLog) -> Answering | None:
        owner = self.config.owner
        if owner is None:
            return None
        return Answering(host, owner, self._holdings.askers, self._clock, log)

    def _hello(self) -> Hello:
        card = Card(self.kit.certificate.to_der(), self.offer)
        return Hello(WIRE_VERSION, JOURNAL_VERSION, VERSION, time.time(), encode(card))

    def _admit(self, subject: Subject, hello: Hello) -> None:
        read_card(hello.card, subject.name)

    def _changed(self, name: str) -> None:
        """Frames of a peer have arrived, or its connection has gone up or down."""
        if self.error is not None:
            return
        try:
            session = self.transport.session(name)
            if session != self._sessions.get(name, 0):
                self._sessions[name] = session
                self._gone(name)
                if session:
                    self._came(name)
            self._read(name)
        except JournalWriteError as error:
            self.fatal(error)
        except LotorError as error:
            _log.warning(str(error), extra={"event": "refused", "peer": name})
            self.transport.kick(name, error)

    def _read(self, name: str) -> None:
        while self.error is None:
            payload = self.transport.receive(self._me, name)
            if payload is None:
                break
            if name in self._keys:  # what a lost connection still brought, its sender sends again
                self._handle(name, decode(payload, name))

    def _came(self, name: str) -> None:
        shown, hello = self.transport.certificate(name), self.transport.hello_of(name)
        if shown is None or hello is None:
            return
        certificate = Certificate.from_der(shown)
        self._keys[name] = certificate.key_bytes
        self.cards[name] = Card(shown, read_card(hello.card, name).offer)
        _log.info("%s is connected", name, extra={"event": "connected", "peer": name})
        for live in list(self.runs.values()):
            seat = live.seat_of(name)
            if seat is None or not live.open:
                continue
            if not self.present(live.table.members[seat]):
                live.log.error(
                    f"{name} has another key than when the run began, and the parties of a run "
                    "do not change: let it come with its old key, or stop the run",
                    extra={"event": "other-key", "peer": name},
                )
                continue
            live.greet(name)
            live.tell()

    def _gone(self, name: str) -> None:
        if self._keys.pop(name, None) is None:
            return
        error = self.transport.last_error(name)
        _log.info(
            "%s is gone%s",
            name,
            f": {error}" if error else "",
            extra={"event": "gone", "peer": name},
        )
        for live in list(self.runs.values()):
            seat = live.seat_of(name)
            if seat is not None:
                live.parted(seat)
                live.tell()

    def _handle(self, name: str, frame: AnyFrame) -> None:
        if frame.run in self._docket.aside:
            if isinstance(frame, Open):
                self._docket.explain(name, frame.run)
            return
        # By far the most; and asking a message whether it is of a class is slow.
        if type(frame) is Data or type(frame) is Ack:
            live, seat = self._seated(name, frame)
            live.received(seat, frame)
        elif isinstance(frame, Join):
            live, seat = self._seated(name, frame)
            live.joined(seat, frame)
        elif isinstance(frame, Status):
            live, _ = self._seated(name, frame)
            live.heard(frame, name)
        elif isinstance(frame, Open):
            self._docket.announced(name, frame)
        elif isinstance(frame, Ask):
            mine = Card(self.kit.certificate.to_der(), self.offer)
            there = [card for peer, card in self.cards.items() if peer in self._keys]
            self.send(name, Roster("", [mine, *there]))
        elif isinstance(frame, Roster):
            self._introduced(frame)

    def _seated(self, name: str, frame: RunFrame) -> tuple[LiveRun, str]:
        """The run that a frame is about and its sender's seat there."""
        live = self.runs.get(frame.run)
        seat = live.seat_of(name) if live is not None else None
        if live is None or seat is None or not self.present(live.table.members[seat]):
            raise ProtocolError(
                f"{name} sent a frame of a run in which {self._me} has nothing to do with it"
            )
        return live, seat

    def _introduced(self, roster: Roster) -> None:
        """Parties that a peer is connected to; the authority vouches for them, not the peer."""
        trust = self.kit.fresh_trust()
        for card in roster.cards:
            name = trust.check(Certificate.from_der(card.certificate)).name
            # Who is connected here speaks for itself.
            if name not in self._keys:
                self.cards[name] = card

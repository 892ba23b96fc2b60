"""A party's daemon: its connections, its runs and the commands of its operator."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from lotor.core.errors import JournalError, JournalWriteError, LotorError, ProtocolError
from lotor.core.fingerprint import fingerprint_of
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon.clock import Clock, SystemClock
from lotor.runtime.daemon.command_handler import CommandHandler
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.connections import Connections
from lotor.runtime.daemon.frames import AnyFrame, Ask, Open, Roster, Told
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.local.service import LocalService
from lotor.runtime.daemon.resources import PartyResources
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_registry import RunRegistry
from lotor.runtime.durable.database import errors
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.journal import Journal
from lotor.transport import NetworkTransport, PartyTransportFactory

LOOK_SECONDS = 0.2
ERASURE_ATTEMPTS = 10
_log = logging.getLogger("lotor.daemon")


class Node:
    """Drives all runs of one party. `transport` makes its connections to the others."""

    def __init__(
        self,
        kit: Kit,
        config: PartyConfig,
        journal: Journal,
        *,
        protocols: Mapping[str, type[SecureProtocol]] = PROTOCOLS,
        clock: Clock | None = None,
        transport: PartyTransportFactory = NetworkTransport,
    ) -> None:
        # Now, since somebody may replace Lotor's files while this process lives.
        fingerprint_of(Node)
        self.kit = kit
        self.journal = journal
        self.error: LotorError | None = None
        self.ended = asyncio.Event()
        self.resources = PartyResources(kit, config, protocols)
        contribution = self.resources.contribution
        self.connections = Connections(kit, config, contribution, transport, self._changed)
        self.context = RunContext(
            kit,
            config,
            journal,
            self.resources,
            self.connections,
            protocols,
            clock or SystemClock(),
            self._fatal,
        )
        self.registry = RunRegistry(self.context)
        self.runs: Mapping[str, LiveRun] = self.registry.runs
        self.commands = CommandHandler(self.context, self.registry)
        self.local = self._local_service()
        self._keeper: asyncio.Task[None] | None = None
        self._seen = -1
        # By sender and run: what was found when connections had last changed.
        self._seats: dict[tuple[str, str], tuple[LiveRun, str]] = {}

    def _local_service(self) -> LocalService | None:
        table = self.context.config.local
        if table is None:
            return None
        return LocalService(
            table, self.context, self.runs, self._carry_out_now, lambda: self.error is None
        )

    async def start(self) -> None:
        """Listen, dial, and go on with every run that has not ended."""
        self.kit.fresh_trust().check(self.kit.certificate)
        transport = self.connections.transport
        await transport.start()
        _log.info(
            "%s serves as %s%s",
            self.kit.subject.name,
            self.kit.subject.role,
            f" on port {transport.address[1]}" if transport.address else "",
            extra={"event": "serving"},
        )
        if self.context.config.trial is not None:
            _log.warning(
                "[trial] in party.toml fixes this party's draws, so whoever knows the seed can "
                "foresee them: take it out unless all data is made up",
                extra={"event": "trial"},
            )
        self.registry.restore()
        if self.local is not None:
            await self.local.start()
        self._keeper = asyncio.create_task(self._look_regularly())

    async def close(self) -> None:
        if self.local is not None:
            await self.local.close()
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        await self.commands.close()
        for live in self.runs.values():
            live.close()
        await self.connections.transport.close()
        self.resources.close()
        await self._erase()

    async def _erase(self) -> None:
        """Leave nothing of ended runs behind; a process that reads meanwhile may take a moment."""
        with suppress(*errors()):
            for _ in range(ERASURE_ATTEMPTS):
                if self.journal.erasure.complete():
                    return
                await asyncio.sleep(LOOK_SECONDS)

    async def _look_regularly(self) -> None:
        """Look for commands, and every fifth time after the runs and who is still trusted."""
        looks = 0
        while self.error is None:
            with self._ending_if_it_fails():
                self.commands.carry_out()
                self._look_for_outcomes()
                if looks % 5 == 0:
                    self._look_after()
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)

    def _look_for_outcomes(self) -> None:
        """Another process that writes to the journal may have told some."""
        changes = self.journal.changes()
        if changes != self._seen:
            self._seen = changes
            for live in list(self.runs.values()):
                live.outcomes_told()

    def _look_after(self) -> None:
        self.journal.erasure.complete()
        self.connections.end_untrusted()
        for live in list(self.runs.values()):
            live.look_after()
        if self.local is not None:
            self.local.look()

    def _carry_out_now(self) -> None:
        """Carry out what this very process has written down as a command."""
        with self._ending_if_it_fails():
            self.commands.look_again()
            self.commands.carry_out()
            self._seen = -1
            self._look_for_outcomes()
        if self.error is not None:
            raise self.error

    @contextmanager
    def _ending_if_it_fails(self) -> Iterator[None]:
        try:
            yield
        except LotorError as error:
            self._fatal(error)
        except errors() as error:
            self._fatal(JournalError(f"the journal cannot be read ({error}): check the disk"))
        except Exception as error:
            # Else no command would be carried out any more and nobody's trust be checked; the text
            # of an error that nobody has foreseen might show what is secret.
            self._fatal(
                LotorError(
                    f"looking after commands and runs failed with {type(error).__name__}: "
                    "report this, and start the party again"
                )
            )

    def _fatal(self, error: LotorError) -> None:
        """Nothing can be written down any more: stop, and go on after a restart."""
        _log.critical(str(error), extra={"event": "fatal"})
        self.error = error
        self.ended.set()

    def _changed(self, name: str) -> None:
        """Frames of a peer have arrived, or its connection has gone up or down."""
        if self.error is not None:
            return
        try:
            if self.connections.session_changed(name):
                self._seats.clear()
                self._peer_left(name)
                self._peer_came(name)
            while self.error is None and (frame := self.connections.receive(name)) is not None:
                self._handle(name, frame)
            if self.connections.admits_again(name):
                self._catch_up(name)
        except JournalWriteError as error:
            self._fatal(error)
        except LotorError as error:
            _log.warning(str(error), extra={"event": "refused", "peer": name})
            self.connections.transport.kick(name, error)

    def _catch_up(self, name: str) -> None:
        for live in list(self.runs.values()):
            seat = live.peers.seat_of(name)
            if seat is not None:
                live.catch_up(seat)

    def _peer_left(self, name: str) -> None:
        if not self.connections.remove(name):
            return
        for live in list(self.runs.values()):
            seat = live.peers.seat_of(name)
            if seat is not None:
                live.parted(seat)
                live.tell()

    def _peer_came(self, name: str) -> None:
        if not self.connections.add(name):
            return
        for live in list(self.runs.values()):
            seat = live.peers.seat_of(name)
            if seat is None or not live.open:
                continue
            if not self.connections.is_present(live.agreement.members[seat]):
                live.log.error(
                    f"{name} has another key than when the run began, and the parties of a run "
                    "do not change: let it come with its old key, or stop the run",
                    extra={"event": "other-key", "peer": name},
                )
                continue
            live.greet(name)
            live.tell()

    def _handle(self, name: str, frame: AnyFrame) -> None:
        if self.registry.is_aside(frame.run):
            if isinstance(frame, Open):
                self.registry.explain(name, frame)
            return
        # These are by far the most frequent, and isinstance on a message is slow.
        if type(frame) is Data or type(frame) is Ack:
            live, seat = self._seated(name, frame)
            live.received(seat, frame)
        elif isinstance(frame, Join):
            live, seat = self._seated(name, frame)
            live.joined(seat, frame)
        elif isinstance(frame, Told):
            # Its run may be announced later, by another connection, or not at all: no harm done.
            if frame.run in self.runs:
                live, _ = self._seated(name, frame)
                live.heard(frame, name)
        elif isinstance(frame, Open):
            self.registry.announced(name, frame)
        elif isinstance(frame, Ask):
            self.connections.send(name, Roster("", self.connections.roster()))
        elif isinstance(frame, Roster):
            self.connections.learn(name, frame.cards)

    def _seated(self, name: str, frame: RunFrame) -> tuple[LiveRun, str]:
        """The run that a frame is about and its sender's seat there."""
        live = self.runs.get(frame.run)
        known = self._seats.get((name, frame.run))
        if known is not None and known[0] is live:
            return known
        seat = live.peers.seat_of(name) if live is not None else None
        if (
            live is None
            or seat is None
            or not self.connections.is_present(live.agreement.members[seat])
        ):
            raise ProtocolError(
                f"{name} sent a frame of a run in which it is not a peer of "
                f"{self.kit.subject.name}: it is out of step, or has another key than when the "
                "run began"
            )
        self._seats[name, frame.run] = live, seat
        return live, seat

"""Running a party from its kit."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lotor.core.errors import JournalError
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon import logs
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.open_kit import OpenKit, open_kit
from lotor.runtime.durable.journal import ENDED, FINISHED, Journal, RunRow
from lotor.transport import NetworkTransport, PartyTransportFactory

__all__ = ["OpenKit", "follow", "open_kit", "serve", "serve_kit", "served"]

LOOK_SECONDS = 0.2


@asynccontextmanager
async def served(
    at: OpenKit,
    *,
    protocols: Mapping[str, type[SecureProtocol]] = PROTOCOLS,
    clock: Clock | None = None,
    transport: PartyTransportFactory = NetworkTransport,
) -> AsyncIterator[Node]:
    """Drive the party while the block runs; its journal must be locked."""
    node = Node(
        at.kit, at.config, at.journal, protocols=protocols, clock=clock, transport=transport
    )
    try:
        await node.start()
        yield node
    finally:
        await node.close()


def serve_kit(path: Path, log: logs.Style, level: str) -> None:
    """Open a kit and drive its party until ctrl-C or SIGTERM; its log goes to standard error."""
    with open_kit(path) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, level)
        asyncio.run(_until_stopped(at))


async def _until_stopped(at: OpenKit) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(at, stop)


async def serve(
    at: OpenKit, stop: asyncio.Event, *, transport: PartyTransportFactory = NetworkTransport
) -> None:
    """Drive the party until `stop` is set, or until it cannot go on."""
    if not await _locked(at.journal):
        driver = at.journal.driver()
        which = "" if driver is None else f" (process {driver})"
        raise JournalError(
            f"another process serves {at.kit.path} already{which}: stop that one, or use it"
        )
    async with served(at, transport=transport) as node:
        waits = [asyncio.create_task(event.wait()) for event in (stop, node.ended)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if node.error is not None:
            raise node.error


async def _locked(journal: Journal) -> bool:
    """Lock a journal; a process that looks whether it is served holds the lock for an instant."""
    for _ in range(60):
        if journal.lock():
            return True
        await asyncio.sleep(LOOK_SECONDS / 4)
    return False


async def follow(
    at: OpenKit,
    run: str,
    seen: Callable[[RunRow | None], None],
    *,
    linger: float = 5.0,
    transport: PartyTransportFactory = NetworkTransport,
) -> RunRow | None:
    """Watch a run until it is over, and drive the party as long as no other process does.

    None when it could not even be opened: the journal says why.
    """
    node: Node | None = None
    try:
        while True:
            if node is None and at.journal.lock():
                node = Node(at.kit, at.config, at.journal, transport=transport)
                await node.start()
            if node is not None and node.error is not None:
                raise node.error
            row = at.journal.find(run)
            seen(row)
            if row is not None and row.state in (*ENDED, FINISHED):
                await _wait_for_peers(node, run, linger)
                return row
            if row is None and at.journal.commands.impossible(run) is not None:
                return None
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        if node is not None:
            await node.close()


async def _wait_for_peers(node: Node | None, run: str, seconds: float) -> None:
    """Wait a little until peers have heard how the run ended."""
    if node is None or run not in node.runs:
        return
    live = node.runs[run]
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await live.over.wait()
            while live.state in ENDED and not live.peers.present():
                await asyncio.sleep(LOOK_SECONDS)
    if live.state in ENDED and not live.peers.present():
        live.log.warning(
            "nobody else has heard of the end yet: let `lotor serve` run here until the others "
            "are connected",
            extra={"event": "untold"},
        )

"""Connecting to a peer: once, or for ever with pauses that grow."""

import asyncio
import random
import socket

import msgspec

from lotor.crypto.certificates import Subject
from lotor.transport.connection import PROBE, Connection, ConnectionEvents, LocalParty
from lotor.transport.failures import explain
from lotor.transport.handshake import Hello
from lotor.transport.limits import Limits
from lotor.transport.stream import Address, written
from lotor.transport.tls import Tls


async def dial(
    me: LocalParty, events: ConnectionEvents, address: Address, peer: str, path: str = "/"
) -> Connection:
    """Connect once and wait until both sides have said Hello; LotorError says why not."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    target = written(address)

    def established(connection: Connection) -> None:
        if not ready.done():
            ready.set_result(None)
        events.established(connection)

    def ended(connection: Connection) -> None:
        if not ready.done():
            ready.set_result(None)
        events.ended(connection)

    watched = msgspec.structs.replace(events, established=established, ended=ended)
    connection = Connection(me, watched, target, peer, path)
    try:
        async with asyncio.timeout(me.limits.handshake):
            await _connect(connection, address, me.limits.handshake)
    except (OSError, ValueError, OverflowError) as error:
        raise explain(error, f"{peer} at {target}" if peer else target) from None
    await ready
    if not connection.is_established:
        raise explain(connection.error, connection.who)
    return connection


async def _connect(connection: Connection, address: Address, seconds: float) -> None:
    """Try each address of a host for its share of the time: one may lead nowhere."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(*address, type=socket.SOCK_STREAM)
    for left, (_, _, _, _, place) in zip(range(len(found), 0, -1), found, strict=True):
        try:
            async with asyncio.timeout(seconds / len(found)):
                await loop.create_connection(lambda: connection, str(place[0]), int(place[1]))
                return
        except OSError:
            if left == 1:
                raise


class Backoff:
    """Pauses between attempts: doubling, with jitter, short again after a success that lasted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = limits.backoff_first

    def lasted(self, seconds: float) -> None:
        if seconds >= self._limits.backoff_last:
            self._next = self._limits.backoff_first

    def pause(self) -> float:
        """Seconds to wait now; parties that lost the same peer do not all come back at once."""
        pause = min(self._next, self._limits.backoff_last)
        self._next = pause * 2
        return pause * random.uniform(0.5, 1.0)  # noqa: S311


async def probe(address: Address, tls: Tls, hello: Hello, limits: Limits) -> tuple[Subject, Hello]:
    """Connect once, find out who is there, and close; connections of this party stay as they are.

    The other side checks certificate and Hello as for any connection, and tells its own.
    """
    closed = asyncio.Event()
    made: list[Connection] = []

    def ignore(_connection: Connection, *_rest: object) -> None:
        pass

    def gone(_connection: Connection) -> None:
        closed.set()

    events = ConnectionEvents(made.append, ignore, ignore, ignore, ignore, ignore, gone)
    me = LocalParty(tls.subject(), tls, lambda: hello, limits)
    try:
        connection = await dial(me, events, address, "", PROBE)
        connection.leave()
        await closed.wait()
    finally:
        # A connection that came to nothing still has its socket.
        if made and not closed.is_set():
            made[0].abort()
            await closed.wait()
    if connection.subject is None or connection.hello is None:
        raise explain(connection.error, connection.who)
    return connection.subject, connection.hello

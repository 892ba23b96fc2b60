"""Accepting connections, no more at one time than allowed."""

import asyncio
from contextlib import suppress

from lotor.core.errors import LotorError, TransportError
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.refusals import RefusalLog
from lotor.transport.stream import Address, written

ACCEPT_TURNS = 3


class Listener:
    """The socket that peers dial, and the connections that came in by it."""

    def __init__(self, me: LocalParty, events: ConnectionEvents, log: RefusalLog) -> None:
        self._me = me
        self._events = events
        self._log = log
        self._server: asyncio.Server | None = None
        # In order of arrival: the first that has not said Hello is the one that dawdles most.
        self._connections: dict[Connection, None] = {}

    async def start(self, address: Address) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._accept, *address)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TransportError(
                f"cannot listen at {written(address)} ({reason}): another program uses the port, "
                "or the address is not one of this machine's"
            ) from None

    @property
    def address(self) -> Address | None:
        """Where peers can dial in."""
        if self._server is None or not self._server.sockets:
            return None
        host, port = self._server.sockets[0].getsockname()[:2]
        return host, port

    async def stop(self) -> None:
        """Accept no more; connections that are there stay."""
        if self._server is None:
            return
        # A socket accepted just now becomes a connection some turns of the loop later, and asyncio
        # would lose it if the server were closed before.
        loop = asyncio.get_running_loop()
        for listening in self._server.sockets:
            with suppress(NotImplementedError):
                loop.remove_reader(listening.fileno())
        for _ in range(ACCEPT_TURNS):
            await asyncio.sleep(0)
        self._server.close()

    def made(self, connection: Connection) -> None:
        """Count a new connection, and make room for it at the cost of the slowest to greet."""
        self._connections[connection] = None
        if len(self._connections) <= self._me.limits.max_connections:
            return
        slowest = next((c for c in self._connections if c.over or not c.is_established), connection)
        slowest.give_up(
            TransportError(
                f"{slowest.who} was dropped: {self._me.limits.max_connections} connections are "
                "open, as many as max_connections allows"
            )
        )
        self._connections.pop(slowest, None)

    def ended(self, connection: Connection) -> None:
        """Write down why a connection came to nothing."""
        if not connection.is_established and not connection.probing:
            name = connection.subject.name if connection.subject is not None else ""
            self._log.note("refused", name, f"refused {connection.who}: {_why(connection.error)}")

    def gone(self, connection: Connection) -> None:
        self._connections.pop(connection, None)

    def _accept(self) -> Connection:
        return Connection(self._me, self._events)


def _why(error: LotorError | None) -> str:
    return str(error) if error is not None else "no reason is known"

"""Accepting connections: not too many at one time, and not too many a second.

asyncio's own server accepts all that come, a hundred at each turn, and makes a transport for each
of them. A stranger who only connects could keep it so busy that runs stand still. So a listener
accepts by itself, at its own pace, and whoever comes passes three stages with a limit each:
accepted (a bare socket, see `Arrivals`), handshake (a `Connection` that has not said Hello), peer.
No stage takes room from a later one.
"""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable

from lotor.core.errors import LotorError, TransportError
from lotor.transport.arrivals import Arrival, Arrivals
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.crowd import Crowd
from lotor.transport.refusals import RefusalLog
from lotor.transport.stream import Address, written

# Seconds between two looks at the door while somebody is there, if only few came and else. Rare
# looks at many cost peers less time than frequent ones at few, since after each one the system may
# let other processes run first. And most peers have sent their first bytes by then.
SOON, LATER = 0.005, 0.05
FEW = 4
BATCH = 8  # accepted in one go, before peers have their turn: a quarter of a millisecond
BACKLOG = 256  # connections that may wait in the kernel
SAVED = 0.1  # a busy loop makes up for this many seconds


class Allowance:
    """So many a second, and no more than a few at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._left = 1.0

    def take(self, rate: float) -> bool:
        """Whether one more may be had now."""
        now = self._clock()
        self._left = min(max(1.0, rate * SAVED), self._left + (now - self._last) * rate)
        self._last = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Listener:
    """The sockets that peers dial, and the connections that came in by them."""

    def __init__(
        self,
        me: LocalParty,
        events: ConnectionEvents,
        log: RefusalLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._me = me
        self._events = events
        self._log = log
        self._listening: list[socket.socket] = []
        self._doors: deque[socket.socket] = deque()
        self._arrivals = Arrivals(self._refused)
        self._accepts, self._handshakes = Allowance(clock), Allowance(clock)
        self._beginning: set[asyncio.Task[None]] = set()
        self._sources: dict[Connection, str] = {}
        self._strangers: Crowd[Connection] = Crowd()
        self._peers: set[Connection] = set()
        self._next: asyncio.Handle | None = None
        self._came = 0

    async def start(self, address: Address) -> None:
        try:
            self._listening = await _listening(address)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TransportError(
                f"cannot listen at {written(address)} ({reason}): another program uses the port, "
                "or the address is not one of this machine's"
            ) from None
        self._doors.extend(self._listening)
        asyncio.get_running_loop().add_reader(self._arrivals, self._hear)
        self._watch()

    @property
    def address(self) -> Address | None:
        """Where peers can dial in."""
        if not self._listening:
            return None
        host, port = self._listening[0].getsockname()[:2]
        return host, port

    async def stop(self) -> None:
        """Accept no more; connections that are there stay."""
        if not self._listening:
            return
        if self._next is not None:
            self._next.cancel()
        else:
            self._unwatch()
        asyncio.get_running_loop().remove_reader(self._arrivals)
        for listening in self._listening:
            listening.close()
        self._listening = []
        self._doors.clear()
        self._arrivals.close()
        await asyncio.gather(*self._beginning)

    def made(self, connection: Connection) -> None:
        """A handshake begins; it may have to make room for another one."""
        limits = self._me.limits
        source = self._sources.pop(connection)
        while (victim := self._strangers.victim(source, limits.max_handshakes)) is not None:
            self._strangers.discard(victim)
            victim.give_up(
                TransportError(
                    f"{victim.who} was dropped: too many connections have not said Hello "
                    f"(max_handshakes is {limits.max_handshakes})"
                )
            )
        self._strangers.add(connection, source)

    def admit(self, connection: Connection) -> None:
        """TransportError if as many peers are connected as may be."""
        if len(self._peers) >= self._me.limits.max_connections:
            raise TransportError(
                f"{connection.who} must wait: {len(self._peers)} peers are connected, as many as "
                "max_connections allows"
            )

    def greeted(self, connection: Connection) -> None:
        """From now on it counts as a peer, and strangers cannot get in its way."""
        self._strangers.discard(connection)
        self._peers.add(connection)

    def ended(self, connection: Connection) -> None:
        """Write down why a connection came to nothing."""
        if not connection.is_established and not connection.probing:
            name = connection.subject.name if connection.subject is not None else ""
            self._refused(connection.who, _why(connection.error), name)

    def gone(self, connection: Connection) -> None:
        self._strangers.discard(connection)
        self._peers.discard(connection)

    def _refused(self, who: str, why: str, name: str = "") -> None:
        self._log.note("refused", name, f"refused {who}: {why}")

    def _watch(self) -> None:
        """Wait until somebody connects."""
        self._next = None
        for listening in self._listening:
            asyncio.get_running_loop().add_reader(listening, self._turn)

    def _unwatch(self) -> None:
        for listening in self._listening:
            asyncio.get_running_loop().remove_reader(listening)

    def _turn(self) -> None:
        """See to those at the door, a few at a time: peers have their turn in between."""
        loop = asyncio.get_running_loop()
        if self._next is None:
            self._unwatch()
        accepted = self._accept()
        self._came += accepted
        if accepted == BATCH:
            self._next = loop.call_soon(self._turn)
            return
        came, self._came = self._came, 0
        self._begin()
        if came or self._arrivals.ready:
            self._next = loop.call_later(LATER if came > FEW else SOON, self._turn)
        else:
            self._watch()

    def _hear(self) -> None:
        """Somebody who was accepted sends something."""
        self._arrivals.look(self._me.limits)
        self._begin()
        if self._arrivals.ready and self._next is None:
            self._unwatch()
            self._next = asyncio.get_running_loop().call_later(SOON, self._turn)

    def _accept(self) -> int:
        """Accept a few, if the pace allows; 0 if nobody is there. Others wait in the kernel."""
        count, limits = 0, self._me.limits
        self._doors.rotate()  # a crowd at one of them does not shut the others
        for listening in self._doors:
            while count < BATCH:
                if not self._accepts.take(limits.accepts):
                    return max(1, count)
                try:
                    connected, address = listening.accept()
                except BlockingIOError:
                    break
                except ConnectionError:  # gone again
                    count += 1
                    continue
                except OSError as error:
                    self._refused("a new connection", f"it cannot be accepted ({error.strerror})")
                    return 1  # it is tried again, but not at once
                count += 1
                self._arrivals.add(connected, address, limits)
        return count

    def _begin(self) -> None:
        """Begin as many handshakes as the pace allows; each takes a millisecond."""
        while self._arrivals.ready and self._handshakes.take(self._me.limits.handshakes):
            arrival = self._arrivals.take()
            task = asyncio.create_task(self._connect(arrival))
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    async def _connect(self, arrival: Arrival) -> None:
        connection = Connection(self._me, self._events)
        self._sources[connection] = arrival.source
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: connection, arrival.socket)
        except OSError as error:
            self._sources.pop(connection, None)
            arrival.socket.close()
            self._refused(arrival.who, f"it was cut ({error.strerror})")


async def _listening(address: Address) -> list[socket.socket]:
    """A socket for each address that a host name stands for."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    made: list[socket.socket] = []
    try:
        for family, kind, protocol, _, place in dict.fromkeys(found):
            listening = socket.socket(family, kind, protocol)
            made.append(listening)
            listening.setblocking(False)
            # A port that was in use a moment ago is free.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind(place)
            listening.listen(BACKLOG)
    except BaseException:
        for listening in made:
            listening.close()
        raise
    return made


def _why(error: LotorError | None) -> str:
    return str(error) if error is not None else "no reason is known"

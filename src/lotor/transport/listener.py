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
from collections.abc import Callable

from lotor.core.errors import LotorError, TransportError
from lotor.transport.arrivals import Arrival, Arrivals
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.crowd import Crowd
from lotor.transport.refusals import RefusalLog
from lotor.transport.stream import Address, written

TURN = 0.005  # seconds between two looks at the door while somebody is there
BACKLOG = 1024  # connections that may wait in the kernel
SAVED = 0.05  # a busy loop makes up for this many seconds


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
        self._arrivals = Arrivals(self._refused)
        self._accepts, self._handshakes = Allowance(clock), Allowance(clock)
        self._beginning: dict[asyncio.Task[None], Arrival] = {}
        self._sources: dict[Connection, str] = {}
        self._strangers: Crowd[Connection] = Crowd()
        self._peers: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def start(self, address: Address) -> None:
        try:
            self._listening = await _listening(address)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TransportError(
                f"cannot listen at {written(address)} ({reason}): another program uses the port, "
                "or the address is not one of this machine's"
            ) from None
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
        if self._timer is not None:
            self._timer.cancel()
        else:
            self._unwatch()
        for listening in self._listening:
            listening.close()
        self._listening = []
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

    def _watched(self) -> list[int]:
        """The files that say that somebody connects, or that somebody here sends something."""
        return [*(listening.fileno() for listening in self._listening), self._arrivals.fileno()]

    def _watch(self) -> None:
        self._timer = None
        for file in self._watched():
            asyncio.get_running_loop().add_reader(file, self._turn)

    def _unwatch(self) -> None:
        for file in self._watched():
            asyncio.get_running_loop().remove_reader(file)

    def _turn(self) -> None:
        """See to those at the door, and again soon: peers have their turn in between."""
        if self._timer is None:
            self._unwatch()
        # In this order, so that the first bytes of somebody who has just come are found at once.
        accepted, found, began = self._accept(), self._arrivals.look(self._me.limits), self._begin()
        if accepted or found or began or self._arrivals.ready:
            self._timer = asyncio.get_running_loop().call_later(TURN, self._turn)
        else:
            self._watch()

    def _accept(self) -> bool:
        """Accept as many as the pace allows; False if nobody is there. The others can wait."""
        came = False
        for listening in self._listening:
            while self._accepts.take(self._me.limits.accepts):
                try:
                    connected, address = listening.accept()
                except BlockingIOError:
                    break
                except ConnectionError:  # gone again
                    came = True
                    continue
                except OSError as error:
                    self._refused("a new connection", f"it cannot be accepted ({error.strerror})")
                    return True
                came = True
                self._arrivals.add(connected, address, self._me.limits)
            else:
                return True
        return came

    def _begin(self) -> bool:
        """Begin as many handshakes as the pace allows; each takes a millisecond."""
        began = False
        while self._arrivals.ready and self._handshakes.take(self._me.limits.handshakes):
            arrival = self._arrivals.take()
            task = asyncio.create_task(self._connect(arrival))
            self._beginning[task] = arrival
            task.add_done_callback(self._beginning.pop)
            began = True
        return began

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

"""Accepted sockets whose TLS handshake has not begun: they cost next to nothing.

A stranger without a certificate can open thousands of connections a second. Until the first bytes
are there a connection is a bare socket: no TLS object, no buffer, no timer of its own.
"""

import asyncio
import selectors
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from lotor.transport.crowd import Crowd, by_lot, source_of
from lotor.transport.limits import Limits
from lotor.transport.stream import written

SWEEP = 0.5  # seconds between looks for those who stay silent too long
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: forget the connection at once
SILENT = "too many connections sent nothing, and max_silent says how many may wait"
WAITING = "too many handshakes wait, and max_handshakes says how many may"
LEFT = "it was closed before anything was said"
# An address of IPv6 has four parts.
SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]


@dataclass(frozen=True, eq=False, slots=True)
class Arrival:
    """A socket that was accepted, from where, and when."""

    socket: socket.socket
    address: SocketAddress
    source: str
    time: float

    @property
    def who(self) -> str:
        return written(self.address[:2])

    def drop(self) -> None:
        """Close at once: a goodbye would leave the kernel with something to remember."""
        with suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.socket.close()


class Arrivals:
    """Those who have sent nothing yet, and those whose handshake may begin.

    `refused(who, why)` is told of all who are dropped.
    """

    def __init__(self, refused: Callable[[str, str], None]) -> None:
        self._refused = refused
        self._silent: Crowd[Arrival] = Crowd()
        self._ready: Crowd[Arrival] = Crowd()
        # One file to watch instead of hundreds: asyncio takes three times as long for each.
        self._selector = selectors.DefaultSelector()
        self._sweeper: asyncio.TimerHandle | None = None
        self._patience = 0.0

    def __len__(self) -> int:
        return len(self._silent) + len(self._ready)

    def fileno(self) -> int:
        """Readable when somebody has sent something; see `look`."""
        return self._selector.fileno()

    def add(self, connected: socket.socket, address: SocketAddress, limits: Limits) -> None:
        """One more, at the cost of another one, or of this one, if there are too many."""
        loop = asyncio.get_running_loop()
        arrival = Arrival(connected, address, source_of(address[0]), loop.time())
        if self._heard(arrival, limits):
            return
        victim = self._silent.victim(arrival.source, limits.max_silent)
        if victim is not None:
            # The newcomer is the one that costs least to drop. It has been in the kernel for a
            # while without a word, so it is less likely a peer than one that has just come.
            victim = by_lot((victim, arrival, arrival, arrival))
            self._drop(victim, SILENT)
        if victim is not arrival:
            self._silent.add(arrival, arrival.source)
            self._selector.register(connected, selectors.EVENT_READ, arrival)
        self._patience = limits.handshake
        if self._sweeper is None:
            self._sweeper = loop.call_later(SWEEP, self._sweep)

    def look(self, limits: Limits) -> None:
        """Find those who have sent something, or left."""
        for key, _ in self._selector.select(0):
            self._heard(key.data, limits)

    def _heard(self, arrival: Arrival, limits: Limits) -> bool:
        """See to somebody who has sent something, or left; False for whoever is silent."""
        try:
            first = arrival.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            first = b""
        if not first:
            self._drop(arrival, LEFT)
            return True
        self._forget(arrival)
        victim = self._ready.victim(arrival.source, limits.max_handshakes)
        if victim is not None:
            self._drop(victim, WAITING)
        self._ready.add(arrival, arrival.source)
        return True

    @property
    def ready(self) -> int:
        """How many have sent something."""
        return len(self._ready)

    def take(self) -> Arrival:
        """One of those who have sent something; no longer in here."""
        arrival = self._ready.draw()
        arrival.socket.setblocking(False)
        return arrival

    def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        for arrival in (*self._silent, *self._ready):
            self._forget(arrival)
            arrival.drop()
        self._selector.close()

    def _sweep(self) -> None:
        """Drop those who stay silent too long, and look again as long as somebody is silent."""
        loop = asyncio.get_running_loop()
        before = loop.time() - self._patience
        for arrival in [one for one in self._silent if one.time < before]:
            why = (
                f"it connected and sent nothing for {self._patience:g} s: it is no party of a "
                "federation, or its network lost what it sent"
            )
            self._drop(arrival, why)
        again = bool(self._silent)
        self._sweeper = loop.call_later(SWEEP, self._sweep) if again else None

    def _drop(self, arrival: Arrival, why: str) -> None:
        self._forget(arrival)
        arrival.drop()
        self._refused(arrival.who, why)

    def _forget(self, arrival: Arrival) -> None:
        if arrival in self._silent:
            self._silent.discard(arrival)
            self._selector.unregister(arrival.socket)
        self._ready.discard(arrival)

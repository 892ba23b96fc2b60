"""Sockets of which nobody knows whose they are, before any TLS."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from lotor.transport import Limits
from lotor.transport.arrivals import Arrivals
from transport.parties import QUICK

LIMITS = msgspec.structs.replace(QUICK, max_silent=8, max_handshakes=8)


class Door:
    """Arrivals from made-up addresses, the strangers' ends of them, and who was refused."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []
        self.arrivals = Arrivals(lambda who, why: self.refused.append((who, why)))
        self.theirs: list[socket.socket] = []

    def come(self, host: str, port: int = 1, limits: Limits = LIMITS) -> socket.socket:
        ours, theirs = socket.socketpair()
        self.theirs.append(theirs)
        self.arrivals.add(ours, (host, port), limits)
        return theirs

    def dropped(self) -> set[str]:
        return {who for who, _ in self.refused}


def visit(scene: Callable[[Door], Awaitable[None]]) -> None:
    async def whole() -> None:
        door = Door()
        try:
            await scene(door)
        finally:
            door.arrivals.close()
            for theirs in door.theirs:
                theirs.close()

    asyncio.run(whole())


def test_only_who_has_sent_something_gets_a_handshake() -> None:
    async def scene(door: Door) -> None:
        door.come("192.0.2.1")
        door.arrivals.look(LIMITS)
        assert door.arrivals.ready == 0
        door.come("192.0.2.2").send(b"\x16")
        assert door.arrivals.ready == 0
        for _ in range(2):  # each is found once
            door.arrivals.look(LIMITS)
            assert door.arrivals.ready == 1
        arrival = door.arrivals.take()
        assert arrival.who == "192.0.2.2:1"
        assert arrival.socket.recv(9) == b"\x16"  # nothing was taken away from TLS
        arrival.socket.close()
        assert len(door.arrivals) == 1

    visit(scene)


def test_who_has_sent_something_by_then_need_not_wait() -> None:
    async def scene(door: Door) -> None:
        ours, theirs = socket.socketpair()
        door.theirs.append(theirs)
        theirs.send(b"\x16")
        door.arrivals.add(ours, ("192.0.2.1", 1), LIMITS)
        assert door.arrivals.ready == 1

    visit(scene)


def test_who_leaves_without_a_word_takes_no_turn() -> None:
    async def scene(door: Door) -> None:
        door.come("192.0.2.1").close()
        door.arrivals.look(LIMITS)
        assert len(door.arrivals) == 0
        assert door.dropped() == {"192.0.2.1:1"}

    visit(scene)


def test_a_stranger_pays_for_its_own_connections() -> None:
    """With any number of connections it pushes nobody out who comes from elsewhere."""

    async def scene(door: Door) -> None:
        genuine = door.come("192.0.2.9")
        for port in range(1, 200):
            door.come("192.0.2.1", port)
        assert len(door.arrivals) == 1 + LIMITS.max_silent // 2
        assert len(door.refused) == 199 - LIMITS.max_silent // 2
        assert "192.0.2.9:1" not in door.dropped()
        genuine.send(b"\x16")
        door.arrivals.look(LIMITS)
        arrival = door.arrivals.take()
        assert arrival.who == "192.0.2.9:1"
        arrival.socket.close()

    visit(scene)


def test_a_peer_at_the_strangers_address_can_still_get_in() -> None:
    """Whoever is pushed out tries again: each time there is a chance, and once is enough."""

    async def scene(door: Door) -> None:
        attempts = 0
        while not door.arrivals.ready:
            attempts += 1
            genuine = door.come("192.0.2.1", 60_000)
            for port in range(1, LIMITS.max_silent):
                door.come("192.0.2.1", port)
            with suppress(BrokenPipeError):
                genuine.send(b"\x16")
            door.arrivals.look(LIMITS)
            assert attempts < 1_000
        arrival = door.arrivals.take()
        assert arrival.who == "192.0.2.1:60000"
        arrival.socket.close()

    visit(scene)


def test_strangers_who_begin_tls_pay_for_each_other_too() -> None:
    async def scene(door: Door) -> None:
        door.come("192.0.2.9").send(b"\x16")
        for port in range(1, 200):
            door.come("192.0.2.1", port).send(b"\x16")
            door.arrivals.look(LIMITS)
        assert door.arrivals.ready == 1 + LIMITS.max_handshakes // 2
        taken = [door.arrivals.take() for _ in range(door.arrivals.ready)]
        assert "192.0.2.9:1" in {arrival.who for arrival in taken}
        for arrival in taken:
            arrival.socket.close()

    visit(scene)


def test_silence_ends_without_anybody_else_coming() -> None:
    async def scene(door: Door) -> None:
        limits = msgspec.structs.replace(LIMITS, handshake=0.01)
        theirs = door.come("192.0.2.1", limits=limits)
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        assert await loop.sock_recv(theirs, 1) == b""
        assert "connected and sent nothing" in door.refused[0][1]
        assert len(door.arrivals) == 0

    visit(scene)

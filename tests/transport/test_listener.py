"""How many connections a listener takes, how fast, and who stays whatever happens."""

import asyncio
import contextlib
import select
import socket
from collections.abc import AsyncIterator
from functools import partial

import msgspec
import pytest

from flood import first_bytes
from lotor.transport import Address, Limits
from lotor.transport.arrivals import Arrivals
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.listener import SAVED, Allowance, Listener
from lotor.transport.refusals import RefusalLog
from runtime.daemon.waiting import until
from transport.parties import HELLO, QUICK, Federation, Party, exchange, running

FEW = msgspec.structs.replace(QUICK, max_silent=4, max_handshakes=4)
COME = 40


class Clock:
    """Stands still until it is told the time."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_allowance_is_so_many_a_second_and_few_at_once() -> None:
    clock = Clock()
    allowance = Allowance(clock)

    def taken() -> int:
        return sum(allowance.take(100.0) for _ in range(1_000))

    assert taken() == 1
    assert taken() == 0
    clock.now += 0.03
    assert taken() == 3
    clock.now += 3_600.0
    assert taken() == 100 * SAVED
    total = 0
    for _ in range(1_000):
        clock.now += 0.001
        total += taken()
    assert 99 <= total <= 101


def test_a_rate_below_the_rhythm_still_lets_somebody_in() -> None:
    clock = Clock()
    allowance = Allowance(clock)
    assert allowance.take(0.1)
    assert not allowance.take(0.1)
    clock.now += 10.5
    assert allowance.take(0.1)


@contextlib.asynccontextmanager
async def listening(
    federation: Federation, limits: Limits, clock: Clock
) -> AsyncIterator[tuple[Listener, list[Connection]]]:
    """A listener that knows nobody, and the connections that it has made."""
    tls = federation.join("comp", "comp")
    made: list[Connection] = []

    def ignore(_connection: Connection, *_rest: object) -> None:
        pass

    def on_made(connection: Connection) -> None:
        made.append(connection)
        listener.made(connection)

    def on_gone(connection: Connection) -> None:
        listener.gone(connection)

    events = ConnectionEvents(on_made, ignore, ignore, ignore, ignore, ignore, on_gone)
    me = LocalParty(tls.subject(), tls, lambda: HELLO, limits)
    listener = Listener(me, events, RefusalLog(), clock)
    await listener.start(("127.0.0.1", 0))
    try:
        yield listener, made
    finally:
        await listener.stop()
        for connection in made:
            connection.abort()
            await connection.closed.wait()


@contextlib.contextmanager
def strangers(address: Address | None, count: int, words: bytes = b""):  # type: ignore[no-untyped-def]
    """So many connections, which the kernel makes without the listener's help."""
    assert address is not None
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(address))
            if words:
                one.send(words)
        yield


def reached(arrivals: Arrivals, count: int) -> bool:
    return len(arrivals) >= count


async def some_turns() -> None:
    """Long enough for a listener that does not keep its pace to be caught."""
    for _ in range(15):
        await asyncio.sleep(0.01)


def test_connections_are_accepted_at_the_listeners_pace(federation: Federation) -> None:
    """Nobody is refused: the others wait in the kernel, where they cost nothing."""

    async def scenario() -> None:
        clock = Clock()
        limits, step = msgspec.structs.replace(QUICK, accepts=100), round(100 * SAVED)
        async with listening(federation, limits, clock) as (listener, made):
            with strangers(listener.address, COME):
                arrivals = listener._arrivals
                for seen in (1, *range(1 + step, COME, step), COME):
                    await until(partial(reached, arrivals, seen))
                    await some_turns()
                    assert len(arrivals) == seen
                    clock.now += 1.0
                assert made == []  # not one of them has cost a TLS object

    asyncio.run(scenario())


def test_a_crowd_at_one_address_does_not_shut_the_other(federation: Federation) -> None:
    """A host name may stand for several, each with a socket of its own."""

    async def scenario() -> None:
        clock = Clock()
        limits = msgspec.structs.replace(QUICK, accepts=10)
        async with listening(federation, limits, clock) as (listener, _made):
            other = socket.create_server(("127.0.0.1", 0))
            other.setblocking(False)
            listener._listening.append(other)
            listener._doors.append(other)
            with strangers(listener.address, COME), strangers(other.getsockname(), 1):
                for door in listener._doors:  # what the kernel does may take a moment
                    assert select.select([door], [], [], 90)[0]
                ports = set[int]()
                for _ in range(4):
                    clock.now += 1.0
                    listener._accept()
                    here = (*listener._arrivals._silent, *listener._arrivals._ready)
                    ports |= {one.socket.getsockname()[1] for one in here}
                assert other.getsockname()[1] in ports

    asyncio.run(scenario())


def test_handshakes_begin_at_the_listeners_pace(federation: Federation) -> None:
    async def scenario() -> None:
        clock = Clock()
        limits = msgspec.structs.replace(QUICK, accepts=1_000_000, handshakes=40)
        async with listening(federation, limits, clock) as (listener, made):
            with strangers(listener.address, 20, first_bytes()):
                clock.now += 1.0
                await until(lambda: len(made) == 40 * SAVED)
                await some_turns()
                assert len(made) == 40 * SAVED
                clock.now += 1.0
                await until(lambda: len(made) == 2 * 40 * SAVED)

    asyncio.run(scenario())


@pytest.mark.parametrize("words", [b"", first_bytes()], ids=["silent", "stalling"])
def test_peers_stay_and_newcomers_get_in_among_many_strangers(
    federation: Federation, words: bytes
) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True, limits=FEW)
        async with running(comp):
            graz = Party(federation.join("graz"), dial={"comp": comp.address})
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(graz):
                await exchange(graz, comp)
                # Whether lots would ever fall on a peer among strangers is a matter of chance.
                assert not len(comp.net._listener._strangers)
                with strangers(comp.address, COME, words):
                    async with running(lyon):
                        await exchange(lyon, comp)
                        assert len(comp.net._listener._strangers) <= FEW.max_handshakes
                        assert len(comp.net._listener._arrivals) <= 2 * FEW.max_silent
                        await exchange(graz, comp)
                assert graz.net.sessions("comp") == comp.net.sessions("graz") == 1

    asyncio.run(scenario())


def test_more_peers_than_allowed_are_told_so(federation: Federation) -> None:
    async def scenario() -> None:
        one = msgspec.structs.replace(QUICK, max_connections=1)
        comp = Party(federation.join("comp", "comp"), listen=True, limits=one)
        async with running(comp):
            graz = Party(federation.join("graz"), dial={"comp": comp.address})
            lyon = Party(federation.join("lyon"), dial={"comp": comp.address})
            async with running(lyon), running(graz):
                await comp.until(lambda: comp.net.connected("graz") or comp.net.connected("lyon"))
                first, second = (graz, lyon) if comp.net.connected("graz") else (lyon, graz)
                await second.error("comp", containing="max_connections")
                await exchange(first, comp)

    asyncio.run(scenario())


def test_a_peer_that_comes_again_takes_its_own_place(federation: Federation) -> None:
    async def scenario() -> None:
        one = msgspec.structs.replace(QUICK, max_connections=1)
        comp = Party(federation.join("comp", "comp"), listen=True, limits=one)
        tls = federation.join("graz")
        async with running(comp):
            graz, again = (Party(tls, dial={"comp": comp.address}) for _ in range(2))
            async with running(graz):
                await exchange(graz, comp)
                async with running(again):
                    await comp.until(lambda: comp.net.sessions("graz") > 1)

    asyncio.run(scenario())


def test_nothing_stays_open_when_a_listener_stops(federation: Federation) -> None:
    async def scenario() -> None:
        async with listening(federation, QUICK, Clock()) as (listener, _made):
            reader, writer = await asyncio.open_connection(*(listener.address or ("", 0)))
            await until(lambda: len(listener._arrivals) == 1)
            await listener.stop()
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            assert listener.address is None

    asyncio.run(scenario())

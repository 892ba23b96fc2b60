"""Strangers and broken peers: each is refused, and a good peer never notices."""

import asyncio
import contextlib
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from lotor.core.errors import ProtocolError
from lotor.transport import Address, Limits, Tls
from lotor.transport.handshake import MAX_GREETING, encode_hello
from transport.parties import HELLO, QUICK, Federation, Party, exchange, running

Attack = Callable[[Address], Awaitable[None]]
SMALL = msgspec.structs.replace(QUICK, max_frame=100_000)
# For those who never say what is due: long enough for a busy machine to come so far.
SILENT = msgspec.structs.replace(SMALL, handshake=3.0)


def survives(federation: Federation, attack: Attack, limits: Limits = SMALL) -> list[str]:
    """Attack comp while graz is connected, and check that graz is served before and after.

    The limits hold for who comes during the attack: a busy machine may make honest parties slow.
    Returns why comp refused whom.
    """
    reasons: list[str] = []
    accidents: list[dict[str, object]] = []

    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True, limits=SMALL)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: accidents.append(context))
        comp.net._log.note = lambda event, peer, reason: reasons.append(reason)  # type: ignore[method-assign]
        async with running(comp):
            graz = Party(federation.join("graz"), dial={"comp": comp.address})
            late = Party(federation.join("porto"), dial={"comp": comp.address})
            async with running(graz):
                await exchange(graz, comp)
                with limited(comp, limits):
                    await attack(comp.address)
                await exchange(graz, comp)
                assert graz.net.sessions("comp") == 1
                async with running(late):
                    await exchange(late, comp)
                await comp.until(lambda: len(comp.net._connections) == 1)

    asyncio.run(scenario())
    assert accidents == []
    return reasons


@contextlib.contextmanager
def limited(party: Party, limits: Limits) -> Iterator[None]:
    """What a party allows those who connect meanwhile."""
    listener = party.net._listener
    usual = listener._me
    listener._me = msgspec.structs.replace(usual, limits=limits)
    try:
        yield
    finally:
        listener._me = usual


async def closed(reader: asyncio.StreamReader) -> bytes:
    """All that arrives until the other side closes."""
    async with asyncio.timeout(90):
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return await reader.read()
    return b""


def raw(*chunks: bytes, tls: ssl.SSLContext | None = None) -> Attack:
    """Connect, send these bytes, and wait until comp closes."""

    async def attack(address: Address) -> None:
        name = None if tls is None else ""
        reader, writer = await asyncio.open_connection(*address, ssl=tls, server_hostname=name)
        with contextlib.suppress(ConnectionError):
            for chunk in chunks:
                writer.write(chunk)
                await writer.drain()
        await closed(reader)
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    return attack


@contextlib.asynccontextmanager
async def upgraded(address: Address, tls: Tls):  # type: ignore[no-untyped-def]
    uri = f"wss://{address[0]}:{address[1]}/"
    async with connect(
        uri, ssl=tls.client(), server_hostname="", compression=None, max_size=None
    ) as websocket:
        yield websocket


async def last_words(websocket: ClientConnection) -> str:
    """What comp said before it closed."""
    said = ""
    async with asyncio.timeout(90):
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = await websocket.recv()
                said = message if isinstance(message, str) else said
    return said


def talk(tls: Tls, *messages: str | bytes) -> tuple[Attack, list[str]]:
    """A proper websocket that sends these messages; what comp answered last is kept."""
    answers: list[str] = []

    async def attack(address: Address) -> None:
        async with upgraded(address, tls) as websocket:
            with contextlib.suppress(ConnectionClosed):
                for message in messages:
                    await websocket.send(message)
            answers.append(await last_words(websocket))

    return attack, answers


def test_silence_before_tls(federation: Federation) -> None:
    assert "connected and sent nothing" in survives(federation, raw(), SILENT)[0]


@pytest.mark.parametrize("size", [1, 5, 1_000, 300_000])
def test_garbage_instead_of_tls(federation: Federation, size: int) -> None:
    survives(federation, raw(random.Random(size).randbytes(size)), SILENT)


def test_plain_http_instead_of_tls(federation: Federation) -> None:
    reasons = survives(federation, raw(b"GET / HTTP/1.1\r\nHost: comp\r\n\r\n"))
    assert "failed (http request)" in reasons[0]


def test_tls_without_a_certificate(federation: Federation) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    assert "showed no certificate" in survives(federation, raw(tls=context))[0]


def test_tls_1_2(federation: Federation) -> None:
    context = federation.join("old").client()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    async def attack(address: Address) -> None:
        with pytest.raises(ssl.SSLError):
            await asyncio.open_connection(*address, ssl=context, server_hostname="")

    assert "does not speak TLS 1.3" in survives(federation, attack)[0]


def test_silence_after_tls(federation: Federation) -> None:
    reasons = survives(federation, raw(tls=federation.join("lyon").client()), SILENT)
    assert "lyon" in reasons[0]
    assert "silent in its websocket upgrade" in reasons[0]


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: comp\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: comp\r\nContent-Length: 0\r\n\r\n",
        b"\x00\xff\n" * 500,
        b"GET /" + b"x" * 20_000,
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1_000 + b"\r\n",
    ],
)
def test_no_websocket_after_tls(federation: Federation, request_: bytes) -> None:
    reasons = survives(federation, raw(request_, tls=federation.join("lyon").client()))
    assert "lyon" in reasons[0]
    assert "does not speak this protocol" in reasons[0]


def test_silence_after_the_upgrade(federation: Federation) -> None:
    attack, answers = talk(federation.join("lyon"))
    assert "silent in its Hello" in survives(federation, attack, SILENT)[0]
    assert "TransportError" in answers[0]


@pytest.mark.parametrize(
    "first",
    [
        "good morning",
        "",
        b"a frame before Hello",
        b"",
        '["hello"]',
        '["hello","1",1,"0",0,""]',
        '["hello",1,1,"0",0,"no base64!"]',
        '["goodbye",1]',
        "[" * 5_000,
    ],
)
def test_anything_but_hello_at_first(federation: Federation, first: str | bytes) -> None:
    attack, answers = talk(federation.join("lyon"), first)
    assert "lyon" in survives(federation, attack)[0]
    assert answers[0].startswith('["refusal","ProtocolError"')


def test_more_than_a_hello_at_first(federation: Federation) -> None:
    attack, _ = talk(federation.join("lyon"), "x" * (MAX_GREETING + 1))
    limits = msgspec.structs.replace(SMALL, max_frame=10 * MAX_GREETING)
    assert "more than a Hello" in survives(federation, attack, limits)[0]


def test_a_hello_of_another_shape_still_tells_its_version(federation: Federation) -> None:
    attack, answers = talk(federation.join("lyon"), '["hello",7,{"new":"shape"}]')
    assert "lyon speaks wire version 7" in survives(federation, attack)[0]
    assert "VersionError" in answers[0]


def test_hello_twice(federation: Federation) -> None:
    hello = encode_hello(HELLO).decode()
    attack, answers = talk(federation.join("lyon"), hello, hello)
    survives(federation, attack)
    assert "Hello twice" in answers[0]


def test_a_message_in_parts(federation: Federation) -> None:
    async def attack(address: Address) -> None:
        async with upgraded(address, federation.join("lyon")) as websocket:
            await websocket.send(encode_hello(HELLO).decode())
            with contextlib.suppress(ConnectionClosed):
                await websocket.send([b"one", b"two"])
            assert "in parts" in await last_words(websocket)

    survives(federation, attack)


def test_an_oversized_frame(federation: Federation) -> None:
    async def scenario() -> None:
        comp = Party(federation.join("comp", "comp"), listen=True, limits=SMALL)
        async with running(comp):
            async with upgraded(comp.address, federation.join("lyon")) as websocket:
                await websocket.send(encode_hello(HELLO).decode())
                await websocket.send(b"x" * 100_000)
                await websocket.send(b"x" * 100_001)
                await last_words(websocket)
            error = await comp.error("lyon")
            assert isinstance(error, ProtocolError)
            assert "lyon at 127.0.0.1" in str(error)
            assert "above 100000 bytes" in str(error)
            assert len(await comp.receive("lyon")) == 100_000

    asyncio.run(scenario())


def test_a_flood_of_pings_unread(federation: Federation) -> None:
    """Pongs that nobody reads are bounded as any outgoing frames."""
    limits = msgspec.structs.replace(SMALL, outgoing=200_000)

    async def attack(address: Address) -> None:
        async with upgraded(address, federation.join("lyon")) as websocket:
            await websocket.send(encode_hello(HELLO).decode())
            await websocket.recv()
            websocket.transport.pause_reading()
            with contextlib.suppress(ConnectionClosed):
                async with asyncio.timeout(90):
                    while True:
                        await websocket.ping(random.randbytes(120))
            websocket.transport.abort()

    survives(federation, attack, limits)


def test_too_many_connections(federation: Federation) -> None:
    limits = msgspec.structs.replace(SMALL, max_silent=4)

    async def attack(address: Address) -> None:
        silent = []
        for _ in range(20):
            # Some are thrown out before their own side has seen that they got in.
            with contextlib.suppress(ConnectionError):
                silent.append(await asyncio.open_connection(*address))
        lyon = Party(federation.join("lyon"), dial={"comp": address})
        async with running(lyon):
            await lyon.connected("comp")
        for _, writer in silent:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    assert "max_silent" in survives(federation, attack, limits)[0]


@pytest.mark.parametrize("greeted", [False, True])
def test_thousands_of_random_messages(federation: Federation, greeted: bool) -> None:
    """As first message, and after Hello: 6,000 of them each way, a batch for each connection."""
    rng = random.Random(3)
    tls = federation.join("lyon")

    async def attack(address: Address) -> None:
        for _ in range(60):
            async with upgraded(address, tls) as websocket:
                with contextlib.suppress(ConnectionClosed):
                    if greeted:
                        await websocket.send(encode_hello(HELLO).decode())
                    # Websocket frames with any header: what the library would never send.
                    for _ in range(100):
                        websocket.transport.write(rng.randbytes(rng.randrange(1, 200)))
                websocket.transport.abort()

    survives(federation, attack)


def test_random_text_after_hello(federation: Federation) -> None:
    rng = random.Random(4)
    tls = federation.join("lyon")
    pieces = ['["', "hello", '"', "refusal", ",", "1", "]", "\x00", "{", "é", "null", '"', " "]

    async def attack(address: Address) -> None:
        for _ in range(300):
            async with upgraded(address, tls) as websocket:
                with contextlib.suppress(ConnectionClosed):
                    await websocket.send(encode_hello(HELLO).decode())
                    await websocket.send("".join(rng.choices(pieces, k=rng.randrange(12))))
                    await websocket.wait_closed()

    survives(federation, attack)

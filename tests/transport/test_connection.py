"""One side of a connection, fed by hand with what no honest peer would send."""

import asyncio
import random
from pathlib import Path

import msgspec
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Subject
from lotor.transport import Tls
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.handshake import encode_hello, encode_refusal
from transport.parties import HELLO, QUICK, Federation

LIMITS = msgspec.structs.replace(QUICK, max_frame=1_000)
OPCODES = list(Opcode)


class Watched:
    """A connection whose TLS is taken for granted, and what it told."""

    def __init__(self, tls: Tls) -> None:
        self.frames: list[bytes] = []
        self.ends = 0

        def ignore(_connection: Connection, *_rest: object) -> None:
            pass

        def arrived(_connection: Connection, frames: list[bytes]) -> None:
            self.frames += frames

        def ended(_connection: Connection) -> None:
            self.ends += 1

        me = LocalParty(Subject("comp", "comp"), tls, lambda: HELLO, LIMITS)
        self.connection = Connection(
            me, ConnectionEvents(ignore, ignore, ignore, arrived, ignore, ended, ignore)
        )
        self.connection.subject = Subject("lyon", "owner")
        client = ClientProtocol(parse_uri("wss://comp/"))
        client.send_request(client.connect())
        self.connection.received(b"".join(client.data_to_send()))

    def take(self, data: bytes) -> None:
        """What a stream does with bytes: nothing once the connection is over."""
        if not self.connection.over:
            self.connection.received(data)


def masked(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


def senseless(rng: random.Random) -> bytes:
    """Noise, a proper frame with noise in it, or a damaged greeting."""
    noise = rng.randbytes(rng.randrange(120))
    kind = rng.randrange(4)
    if kind == 0:
        return noise
    if kind == 1:
        return masked(Opcode.TEXT, noise)
    if kind == 2:
        opcode = rng.choice(OPCODES)
        if opcode in (Opcode.PING, Opcode.PONG, Opcode.CLOSE):
            noise = noise[:100]
            return bytes([0x80 | opcode, 0x80 | len(noise)]) + bytes(4) + noise
        return masked(opcode, noise, fin=rng.random() < 0.8)
    greeting = bytearray(rng.choice([encode_hello(HELLO), encode_refusal(LotorError("no"))]))
    for _ in range(rng.randrange(1, 4)):
        greeting[rng.randrange(len(greeting))] = rng.randrange(256)
    return masked(Opcode.TEXT, bytes(greeting))


@pytest.mark.parametrize("greeted", [False, True])
def test_thousands_of_senseless_inputs(tmp_path: Path, greeted: bool) -> None:
    """None raises; what arrives as a frame came whole, after Hello; every refusal has a reason."""
    rng = random.Random(7 + greeted)
    tls = Federation(tmp_path).join("comp", "comp")

    async def scenario() -> None:
        inputs = established = 0
        while inputs < 5_000:
            watched = Watched(tls)
            if greeted:
                watched.take(masked(Opcode.TEXT, encode_hello(HELLO)))
                assert watched.connection.is_established
            while not watched.connection.over and inputs < 5_000:
                inputs += 1
                watched.take(senseless(rng))
            established += watched.connection.is_established
            assert watched.connection.is_established or not watched.frames
            watched.connection.stop_timer()
            if watched.connection.over:
                assert isinstance(watched.connection.error, LotorError)
                assert "lyon" in str(watched.connection.error)
                await asyncio.sleep(0)
                assert watched.ends == 1
        assert established > 0

    asyncio.run(scenario())


def test_a_frame_before_hello_in_one_piece_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        watched = Watched(Federation(tmp_path).join("comp", "comp"))
        hello = masked(Opcode.TEXT, encode_hello(HELLO))
        watched.take(masked(Opcode.BINARY, b"too early") + hello)
        assert not watched.connection.is_established
        assert "before its Hello" in str(watched.connection.error)
        assert watched.frames == []

    asyncio.run(scenario())


def test_frames_before_a_refusal_still_count(tmp_path: Path) -> None:
    async def scenario() -> None:
        watched = Watched(Federation(tmp_path).join("comp", "comp"))
        watched.take(
            masked(Opcode.TEXT, encode_hello(HELLO))
            + masked(Opcode.BINARY, b"one")
            + masked(Opcode.BINARY, b"two")
            + masked(Opcode.TEXT, encode_refusal(LotorError("enough")))
            + masked(Opcode.CLOSE, b"")
        )
        assert watched.frames == [b"one", b"two"]
        assert "enough" in str(watched.connection.error)

    asyncio.run(scenario())

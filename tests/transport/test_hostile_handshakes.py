"""Connections that somebody alters at any step, from the first byte of TLS to the first frames."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable

import pytest

from lotor.core.errors import LotorError
from lotor.transport import Limits
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.handshake import encode_hello
from mutations import SEED, Mutator
from transport.parties import HELLO, Federation

LIMITS = Limits(max_frame=100_000)
# As bytes on the wire: before TLS is there, or broken by it after; and within TLS.
PLACES = ("on the wire", "within TLS")
STEPS = 6
FEW, MANY = 40, 400


class Wire(asyncio.Transport):
    """A socket in memory: what is written waits for the other end."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: deque[bytes] = deque()
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.chunks.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def can_write_eof(self) -> bool:
        return False

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def feed(connection: Connection, data: bytes) -> None:
    while data and not connection.over:
        view = connection.get_buffer(-1)
        size = min(len(view), len(data))
        view[:size] = data[:size]
        connection.buffer_updated(size)
        data = data[size:]


class Client(Connection):
    """Says what it should, but for one piece, within TLS."""

    alter: Callable[[bytes], bytes] = staticmethod(lambda data: data)

    def write(self, data: bytes) -> None:
        super().write(type(self).alter(data))


def silent(*_: object) -> None:
    pass


def events(arrived: Callable[..., None] = silent) -> ConnectionEvents:
    return ConnectionEvents(silent, silent, silent, arrived, silent, silent, silent)


class Meeting:
    """A listener and a dialler in memory; `place` and `step` say what is altered."""

    def __init__(self, federation: Federation) -> None:
        sides = {}
        for name in ("comp", "graz"):
            tls = federation.join(name, "comp" if name == "comp" else "owner")
            sides[name] = LocalParty(tls.subject(), tls, lambda: HELLO, LIMITS)
        self._comp, self._graz = sides["comp"], sides["graz"]
        self.seen: Counter[str] = Counter()

    async def play(self, mutator: Mutator, place: str, step: int) -> None:
        arrived: list[bytes] = []
        altered = Counter[str]()

        def alter(data: bytes) -> bytes:
            altered[place] += 1
            samples = [data, encode_hello(HELLO)]
            return mutator.altered(samples) if altered[place] == step + 1 else data

        class Altering(Client):
            pass

        if place == PLACES[1]:
            Altering.alter = staticmethod(alter)
        server = Connection(self._comp, events(lambda _, frames: arrived.extend(frames)))
        client = Altering(self._graz, events(), "comp.example.org:7400", "comp")
        wires = Wire(), Wire()
        for one, wire in zip((server, client), wires, strict=True):
            one.connection_made(wire)
        to_client, to_server = (wire.chunks for wire in wires)
        while to_client or to_server:
            if to_server:
                chunk = to_server.popleft()
                feed(server, alter(chunk) if place == PLACES[0] else chunk)
            if to_client:
                feed(client, to_client.popleft())
            if client.is_established and altered["frames"] == 0:
                altered["frames"] = 1
                for payload in (b"first", b"second", b"third"):
                    client.send_frame(payload)
        self._note(server)
        for one in (server, client):
            one.connection_lost(None)

    def _note(self, server: Connection) -> None:
        if server.error is not None:
            assert isinstance(server.error, LotorError)
            assert str(server.error)
            self.seen["refused"] += 1
        else:
            self.seen["established" if server.is_established else "waits"] += 1


def meet(federation: Federation, count: int, seed: int) -> Counter[str]:
    accidents: list[object] = []

    async def scenario() -> Counter[str]:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: accidents.append(what))
        meeting, mutator = Meeting(federation), Mutator(seed)
        await meeting.play(mutator, PLACES[0], STEPS * 100)
        assert meeting.seen == {"established": 1}
        for number in range(count):
            step = mutator.dice.randrange(STEPS)
            await meeting.play(mutator, PLACES[number % 2], step)
            await asyncio.sleep(0)
        return meeting.seen

    seen = asyncio.run(scenario())
    assert accidents == []
    return seen


def test_altered_connections_are_refused_in_plain_words(federation: Federation) -> None:
    assert meet(federation, FEW, SEED)["refused"] > 0


@pytest.mark.long
def test_very_many_altered_connections_are_refused_in_plain_words(federation: Federation) -> None:
    assert meet(federation, MANY, SEED + 1)["refused"] > 0

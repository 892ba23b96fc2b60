"""The suite that every transport must pass, in memory and over the network."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lotor.transport import MemoryTransport, Transport
from transport.parties import Federation, Party


class Wired:
    """Three parties on the network, looked at as one transport; a send waits for its arrival."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._parties = self._loop.run_until_complete(self._start(Federation(folder)))

    async def _start(self, federation: Federation) -> dict[str, Party]:
        a = Party(federation.join("a"), listen=True)
        await a.net.start()
        b = Party(federation.join("b"), listen=True, dial={"a": a.address})
        await b.net.start()
        c = Party(federation.join("c"), dial={"a": a.address, "b": b.address})
        await c.net.start()
        await a.connected("b", "c")
        await b.connected("a", "c")
        await c.connected("a", "b")
        return {"a": a, "b": b, "c": c}

    def send(self, sender: str, to: str, payload: bytes) -> None:
        receiver = self._parties[to]
        before = len(receiver.changes)
        self._parties[sender].send(to, payload)
        self._loop.run_until_complete(receiver.until(lambda: len(receiver.changes) > before))

    def receive(self, receiver: str, sender: str) -> bytes | None:
        return self._parties[receiver].net.receive(receiver, sender)

    def close(self) -> None:
        for party in self._parties.values():
            self._loop.run_until_complete(party.net.close())
        self._loop.close()


@pytest.fixture(params=["memory", "network"])
def transport(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Transport]:
    if request.param == "memory":
        yield MemoryTransport()
        return
    wired = Wired(tmp_path)
    yield wired
    wired.close()


def test_nothing_there_yet(transport: Transport) -> None:
    assert transport.receive("b", "a") is None


def test_in_order_for_each_pair(transport: Transport) -> None:
    for payload in (b"1", b"2", b"3"):
        transport.send("a", "b", payload)
    transport.send("c", "b", b"other sender")
    transport.send("b", "a", b"other direction")
    assert [transport.receive("b", "a") for _ in range(4)] == [b"1", b"2", b"3", None]
    assert transport.receive("b", "c") == b"other sender"
    assert transport.receive("a", "b") == b"other direction"


@pytest.mark.parametrize("payload", [b"", b"\0", b"x" * 70_000, bytes(range(256)) * 4_000])
def test_bytes_arrive_as_they_were(transport: Transport, payload: bytes) -> None:
    transport.send("a", "c", payload)
    transport.send("c", "a", payload)
    assert transport.receive("c", "a") == payload == transport.receive("a", "c")

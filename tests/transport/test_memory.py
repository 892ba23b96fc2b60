"""The suite that every transport must pass; the network's will run it too."""

import pytest

from lotor.transport import MemoryTransport, Transport


@pytest.fixture
def transport() -> Transport:
    return MemoryTransport()


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

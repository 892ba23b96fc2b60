"""The suite that every party's transport must pass, over the network and in memory."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lotor.core.errors import ConsentError, LotorError, TransportError, VersionError
from lotor.crypto.certificates import Certificate, Subject
from lotor.transport import (
    Address,
    Hello,
    Limits,
    MemoryNetwork,
    NetworkTransport,
    PartyTransport,
    PartyTransportFactory,
)
from transport.parties import HELLO, Federation

SMALL = Limits(handshake=30.0, backoff_first=0.01, backoff_last=0.05, max_frame=200_000)


class End:
    """One party's transport, and a way to wait until something is so."""

    def __init__(
        self,
        federation: Federation,
        make: PartyTransportFactory,
        name: str,
        *,
        listen: bool = False,
        dial: Mapping[str, Address] | None = None,
        hello: Hello = HELLO,
        admit: Callable[[Subject, Hello], None] = lambda subject, hello: None,
    ) -> None:
        self.name = name
        self.calls = 0
        self._changed = asyncio.Event()
        tls = federation.join(name)
        self.net: PartyTransport = make(
            me=tls.subject(),
            tls=tls,
            listen=("127.0.0.1", 0) if listen else None,
            dial=dial or {},
            hello=lambda: hello,
            admit=admit,
            changed=self._on_change,
            limits=SMALL,
        )

    def _on_change(self, peer: str) -> None:
        self.calls += 1
        self._changed.set()

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(90):
            while not true():
                self._changed.clear()
                # An error of a dialler changes without a call, so look now and then.
                try:
                    await asyncio.wait_for(self._changed.wait(), 0.02)
                except TimeoutError:
                    continue

    async def connected(self, peer: str) -> None:
        await self.until(lambda: self.net.session(peer))

    def send(self, to: str, payload: bytes) -> None:
        self.net.send(self.name, to, payload)

    async def receive(self, sender: str, count: int) -> list[bytes]:
        frames: list[bytes] = []

        def arrived() -> bool:
            while (frame := self.net.receive(self.name, sender)) is not None:
                frames.append(frame)
            return len(frames) >= count

        await self.until(arrived)
        return frames


class Setting:
    """A federation, and the kind of transport that is tried."""

    def __init__(self, folder: Path, make: PartyTransportFactory) -> None:
        self.federation = Federation(folder)
        self.make = make
        self._ends: list[End] = []

    async def end(
        self,
        name: str,
        *,
        listen: bool = False,
        dial: Mapping[str, Address] | None = None,
        hello: Hello = HELLO,
        admit: Callable[[Subject, Hello], None] = lambda subject, hello: None,
    ) -> End:
        end = End(
            self.federation, self.make, name, listen=listen, dial=dial, hello=hello, admit=admit
        )
        self._ends.append(end)
        await end.net.start()
        return end

    async def pair(self) -> tuple[End, End]:
        """a, who listens, and b, who has dialled it."""
        a = await self.end("a", listen=True)
        b = await self.end("b", dial={"a": address(a)})
        await a.connected("b")
        await b.connected("a")
        return a, b

    async def close(self) -> None:
        for end in self._ends:
            await end.net.close()


def address(end: End) -> Address:
    assert end.net.address is not None
    return end.net.address


@asynccontextmanager
async def setting(folder: Path, make: PartyTransportFactory) -> AsyncIterator[Setting]:
    made = Setting(folder, make)
    try:
        yield made
    finally:
        await made.close()


Scene = Callable[[Setting], Awaitable[None]]
Play = Callable[[Scene], None]


@pytest.fixture(params=["network", "memory"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Run a scene with one kind of transport."""

    def whole(scene: Scene) -> None:
        async def played() -> None:
            make = NetworkTransport if request.param == "network" else MemoryNetwork().join
            async with setting(tmp_path, make) as made:
                await scene(made)

        asyncio.run(played())

    return whole


def test_frames_arrive_in_order_each_once_as_they_were(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        frames = [b"", b"\0", b"x" * 70_000, *(b"%d" % number for number in range(200))]
        for frame in frames:
            a.send("b", frame)
            b.send("a", frame[::-1])
        assert await b.receive("a", len(frames)) == frames
        assert await a.receive("b", len(frames)) == [frame[::-1] for frame in frames]
        assert a.net.receive("a", "b") is None
        assert a.net.receive("a", "c") is None

    play(scene)


def test_it_says_who_is_connected(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        for end, peer in ((a, "b"), (b, "a")):
            shown = end.net.certificate(peer)
            assert shown == made.federation.certificates[peer].to_der()
            assert Certificate.from_der(shown).subject == Subject(peer, "owner")
            assert end.net.hello_of(peer) == HELLO
            assert end.net.session(peer) == 1
            assert end.net.admits(peer)
            assert (end.net.down_since(peer), end.net.last_error(peer)) == (None, None)
        assert b.net.address is None

    play(scene)


def test_nobody_is_there(play: Play) -> None:
    async def scene(made: Setting) -> None:
        before = time.monotonic()
        a = await made.end("a", listen=True)
        a.send("b", b"dropped")
        assert not a.net.admits("b")
        assert (a.net.session("b"), a.net.certificate("b"), a.net.hello_of("b")) == (0, None, None)
        since = a.net.down_since("b")
        assert since is not None
        assert before <= since <= time.monotonic()
        lonely = await made.end("c", dial={"nobody": ("127.0.0.1", 1)})
        await lonely.until(lambda: lonely.net.last_error("nobody"))
        assert isinstance(lonely.net.last_error("nobody"), TransportError)

    play(scene)


def test_a_peer_goes_and_comes_back(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        calls = a.calls
        await b.net.close()
        await a.until(lambda: not a.net.session("b"))
        await a.until(lambda: a.calls > calls)
        assert isinstance(a.net.last_error("b"), TransportError)
        assert not a.net.admits("b")
        since = a.net.down_since("b")
        assert since is not None
        assert a.net.certificate("b") is None
        a.send("b", b"dropped")
        b = await made.end("b", dial={"a": address(a)})
        await a.until(lambda: a.net.session("b") == 2)
        await b.connected("a")
        assert b.net.session("a") == 1
        a.send("b", b"kept")
        assert await b.receive("a", 1) == [b"kept"]

    play(scene)


def test_a_closed_transport_calls_nobody(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        a.send("b", b"on its way")
        await b.net.close()
        calls = b.calls
        await a.until(lambda: not a.net.session("b"))
        assert b.calls == calls

    play(scene)


@pytest.mark.parametrize("refuser", ["a", "b"])
def test_a_refused_peer_hears_why(play: Play, refuser: str) -> None:
    async def scene(made: Setting) -> None:
        def refuse(subject: Subject, hello: Hello) -> None:
            assert hello == HELLO
            raise ConsentError(f"{subject.name} is not welcome")

        def welcome(subject: Subject, hello: Hello) -> None:
            pass

        a = await made.end("a", listen=True, admit=refuse if refuser == "a" else welcome)
        b = await made.end("b", dial={"a": address(a)}, admit=refuse if refuser == "b" else welcome)
        refused = "b" if refuser == "a" else "a"
        await a.until(lambda: a.net.last_error("b"))
        await b.until(lambda: b.net.last_error("a"))
        for end, peer in ((a, "b"), (b, "a")):
            error = end.net.last_error(peer)
            assert isinstance(error, ConsentError)
            assert f"{refused} is not welcome" in str(error)
            assert end.net.session(peer) == 0

    play(scene)


def test_a_revoked_certificate_is_refused(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a = await made.end("a", listen=True)
        b = End(made.federation, made.make, "b", dial={"a": address(a)})
        made.federation.revoke("b")
        await b.net.start()
        try:
            await b.until(lambda: "revoked" in str(b.net.last_error("a")))
            assert a.net.session("b") == 0
        finally:
            await b.net.close()

    play(scene)


def test_another_wire_version_is_refused(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a = await made.end("a", listen=True)
        other = Hello(wire=2, journal=1, version="9.9", clock=0.0)
        b = await made.end("b", dial={"a": address(a)}, hello=other)
        await b.until(lambda: b.net.last_error("a"))
        assert isinstance(b.net.last_error("a"), VersionError)

    play(scene)


def test_a_kicked_peer_hears_why_and_may_come_back(play: Play) -> None:
    async def scene(made: Setting) -> None:
        heard: list[LotorError] = []
        a, b = await made.pair()

        def kicked() -> bool:
            error = b.net.last_error("a")
            heard.extend([error] if error is not None else [])
            return b.net.session("a") == 2

        a.net.kick("b", ConsentError("one word too many"))
        await b.until(kicked)
        assert any("one word too many" in str(error) for error in heard)
        await a.until(lambda: a.net.session("b") == 2)
        a.send("b", b"welcome back")
        assert await b.receive("a", 1) == [b"welcome back"]

    play(scene)


def test_it_speaks_for_its_own_party_only(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, _ = await made.pair()
        with pytest.raises(TransportError, match="this process is a"):
            a.net.send("b", "a", b"")
        with pytest.raises(TransportError, match="this process is a"):
            a.net.receive("b", "a")

    play(scene)


def test_a_frame_that_is_too_long_is_refused_by_its_sender(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        with pytest.raises(TransportError, match="above max_frame"):
            a.send("b", bytes(SMALL.max_frame + 1))
        a.send("b", bytes(SMALL.max_frame))
        assert await b.receive("a", 1) == [bytes(SMALL.max_frame)]

    play(scene)


def test_nobody_is_called_back_within_a_send(play: Play) -> None:
    async def scene(made: Setting) -> None:
        a, b = await made.pair()
        calls = a.calls + b.calls
        a.send("b", b"one")
        assert a.calls + b.calls == calls
        await b.receive("a", 1)

    play(scene)

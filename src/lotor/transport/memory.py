"""Moves bytes between parties of one process: all at once, or each as a daemon sees it."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping

from lotor.core.errors import CertificateError, LotorError, TransportError
from lotor.crypto.certificates import Subject
from lotor.transport.dialer import Backoff
from lotor.transport.failures import explain
from lotor.transport.handshake import Hello, Refusal, check_wire, plain_text, refused
from lotor.transport.limits import Limits
from lotor.transport.stream import Address
from lotor.transport.tls import Tls


class MemoryTransport:
    """A first-in-first-out queue for each ordered pair of parties."""

    def __init__(self) -> None:
        self._links: defaultdict[tuple[str, str], deque[bytes]] = defaultdict(deque)

    def send(self, sender: str, to: str, payload: bytes) -> None:
        self._links[sender, to].append(payload)

    def receive(self, receiver: str, sender: str) -> bytes | None:
        link = self._links[sender, receiver]
        return link.popleft() if link else None


class MemoryNetwork:
    """Connects daemons within one event loop, as the network does between machines.

    Addresses play no part: a party finds another one by its name, if that one listens.
    """

    def __init__(self) -> None:
        self.parties: dict[str, MemoryPartyTransport] = {}

    def join(
        self,
        *,
        me: Subject,
        tls: Tls,
        listen: Address | None,
        dial: Mapping[str, Address],
        hello: Callable[[], Hello],
        admit: Callable[[Subject, Hello], None],
        changed: Callable[[str], None],
        limits: Limits | None = None,
    ) -> "MemoryPartyTransport":
        """One party's transport; hand this method to its daemon."""
        limits = limits if limits is not None else Limits()
        return MemoryPartyTransport(
            self, me, tls, listen, tuple(dial), hello, admit, changed, limits
        )


class _MemoryPeer:
    """What one party knows of one other."""

    def __init__(self, down_since: float) -> None:
        self.frames: deque[bytes] = deque()
        self.other: MemoryPartyTransport | None = None
        self.certificate: bytes | None = None
        self.hello: Hello | None = None
        self.sessions = 0
        self.down_since = down_since
        self.error: LotorError | None = None


class MemoryPartyTransport:
    """One party's connections within a `MemoryNetwork`: the twin of `NetworkTransport`."""

    def __init__(
        self,
        network: MemoryNetwork,
        me: Subject,
        tls: Tls,
        listen: Address | None,
        dial: tuple[str, ...],
        hello: Callable[[], Hello],
        admit: Callable[[Subject, Hello], None],
        changed: Callable[[str], None],
        limits: Limits,
    ) -> None:
        self._network = network
        self._me = me
        self._tls = tls
        self._listen = listen
        self._dial = dial
        self._hello = hello
        self._admit = admit
        self._changed = changed
        self._limits = limits
        self._peers: dict[str, _MemoryPeer] = {}
        self._started = time.monotonic()
        self._dialers: list[asyncio.Task[None]] = []
        self._away = {name: asyncio.Event() for name in dial}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def address(self) -> Address | None:
        return self._listen

    async def start(self) -> None:
        name = self._me.name
        if name in self._network.parties:
            raise TransportError(f"{name} is in this network already: close that one first")
        self._network.parties[name] = self
        self._started = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._dialers = [asyncio.create_task(self._keep_dialling(peer)) for peer in self._dial]

    async def close(self) -> None:
        for task in self._dialers:
            task.cancel()
        await asyncio.gather(*self._dialers, return_exceptions=True)
        self._loop = None
        if self._network.parties.get(self._me.name) is self:
            del self._network.parties[self._me.name]
        for name, peer in self._peers.items():
            if peer.other is not None:
                peer.other._down(self._me.name, explain(None, self._me.name))
                self._down(name, TransportError(f"this party closed its connection to {name}"))

    def send(self, sender: str, to: str, payload: bytes) -> None:
        self._check_own(sender)
        if len(payload) > self._limits.max_frame:
            raise TransportError(
                f"a frame of {len(payload)} bytes to {to} is above max_frame "
                f"({self._limits.max_frame} bytes): raise max_frame at every party"
            )
        other = self._peer(to).other
        if other is not None:
            other._peer(self._me.name).frames.append(bytes(payload))
            other._tell(self._me.name)

    def admits(self, peer: str) -> bool:
        return self._peer(peer).other is not None

    def receive(self, receiver: str, sender: str) -> bytes | None:
        self._check_own(receiver)
        frames = self._peer(sender).frames
        return frames.popleft() if frames else None

    def session(self, peer: str) -> int:
        known = self._peer(peer)
        return known.sessions if known.other is not None else 0

    def certificate(self, peer: str) -> bytes | None:
        known = self._peer(peer)
        return known.certificate if known.other is not None else None

    def hello_of(self, peer: str) -> Hello | None:
        return self._peer(peer).hello

    def down_since(self, peer: str) -> float | None:
        known = self._peer(peer)
        return known.down_since if known.other is None else None

    def last_error(self, peer: str) -> LotorError | None:
        return self._peer(peer).error

    def kick(self, peer: str, error: LotorError) -> None:
        other = self._peer(peer).other
        if other is not None:
            self._down(peer, error)
            other._down(self._me.name, self._refusal(error))

    async def _keep_dialling(self, name: str) -> None:
        backoff = Backoff(self._limits)
        while True:
            if self._peer(name).other is None:
                self._connect(name)
            if self._peer(name).other is not None:
                self._away[name].clear()
                began = time.monotonic()
                await self._away[name].wait()
                backoff.lasted(time.monotonic() - began)
            await asyncio.sleep(backoff.pause())

    def _connect(self, name: str) -> None:
        """Both sides look at each other, first the one that was dialled, as over the network."""
        other = self._network.parties.get(name)
        if other is None or other._listen is None:
            self._peer(name).error = explain(ConnectionRefusedError(), name)
            return
        sides = ((other, self), (self, other))
        seen = []
        for side, newcomer in sides:
            try:
                seen.append(side._examined(newcomer))
            except LotorError as error:
                side._peer(newcomer._me.name).error = error
                newcomer._peer(side._me.name).error = side._refusal(error)
                return
        for (side, newcomer), (certificate, hello) in zip(sides, seen, strict=True):
            side._up(newcomer, certificate, hello)

    def _examined(self, newcomer: "MemoryPartyTransport") -> tuple[bytes, Hello]:
        certificate, theirs = newcomer._tls.certificate(), newcomer._hello()
        self._tls.check(certificate)
        subject = certificate.subject
        if subject != newcomer._me or subject.name == self._me.name:
            raise CertificateError(f"the certificate of {newcomer._me} is that of {subject}")
        check_wire(self._me.name, self._hello(), subject.name, theirs)
        self._admit(subject, theirs)
        return certificate.to_der(), theirs

    def _refusal(self, error: LotorError) -> LotorError:
        """What the other side is told of an error here."""
        return refused(Refusal(type(error).__name__, plain_text(str(error))), self._me.name)

    def _up(self, other: "MemoryPartyTransport", certificate: bytes, hello: Hello) -> None:
        peer = self._peer(other._me.name)
        peer.other, peer.certificate, peer.hello = other, certificate, hello
        peer.error = None
        peer.sessions += 1
        self._tell(other._me.name)

    def _down(self, name: str, error: LotorError) -> None:
        peer = self._peer(name)
        peer.other, peer.error, peer.down_since = None, error, time.monotonic()
        if name in self._away:
            self._away[name].set()
        self._tell(name)

    def _tell(self, peer: str) -> None:
        """Call back in the next turn of the loop: the sender may be in the middle of something."""
        if self._loop is not None:
            self._loop.call_soon(self._call_back, peer)

    def _call_back(self, peer: str) -> None:
        if self._loop is not None:
            self._changed(peer)

    def _peer(self, name: str) -> _MemoryPeer:
        if name not in self._peers:
            self._peers[name] = _MemoryPeer(self._started)
        return self._peers[name]

    def _check_own(self, name: str) -> None:
        if name != self._me.name:
            raise TransportError(
                f"this process is {self._me.name} and cannot send or receive as {name}"
            )

"""Moves bytes between parties on different machines, over mutual TLS 1.3."""

import asyncio
import time
from collections.abc import Callable, Mapping

from lotor.core.errors import LotorError, TransportError
from lotor.crypto.certificates import Subject
from lotor.transport.connection import Connection, ConnectionEvents, LocalParty
from lotor.transport.dialer import Backoff, dial
from lotor.transport.handshake import Hello
from lotor.transport.limits import Limits
from lotor.transport.listener import Listener
from lotor.transport.peer import Peer
from lotor.transport.refusals import RefusalLog
from lotor.transport.stream import Address
from lotor.transport.tls import Tls


class NetworkTransport:
    """One party's connections to all others, as `PartyTransport` says, over mutual TLS 1.3."""

    def __init__(
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
    ) -> None:
        self._me = LocalParty(me, tls, hello, limits if limits is not None else Limits())
        self._name = me.name
        self._listen = listen
        self._dial = dict(dial)
        self._admit = admit
        self._changed = changed
        self._log = RefusalLog()
        self._events = ConnectionEvents(
            made=self._on_made,
            admit=self._on_hello,
            established=self._on_established,
            arrived=self._on_arrived,
            drained=self._on_drained,
            ended=self._on_ended,
            gone=self._on_gone,
        )
        self._listener = Listener(self._me, self._events, self._log)
        self._peers: dict[str, Peer] = {}
        self._connections: set[Connection] = set()
        self._dialers: list[asyncio.Task[None]] = []
        self._started = time.monotonic()
        self._closing = False

    async def start(self) -> None:
        self._me.tls.client()  # files that cannot be used are an error now, not at each attempt
        self._started = time.monotonic()
        if self._listen is not None:
            await self._listener.start(self._listen)
        for name, address in self._dial.items():
            self._dialers.append(asyncio.create_task(self._keep_dialling(name, address)))

    async def close(self) -> None:
        self._closing = True
        await self._listener.stop()
        for task in self._dialers:
            task.cancel()
        await asyncio.gather(*self._dialers, return_exceptions=True)
        await asyncio.sleep(0)  # a socket that has just connected reports itself in the next turn
        for connection in tuple(self._connections):
            if connection.is_established:
                connection.leave()
            else:
                connection.give_up(TransportError("this party stops"))
        while self._connections:
            await asyncio.gather(*(connection.closed.wait() for connection in self._connections))

    @property
    def address(self) -> Address | None:
        return self._listener.address

    def send(self, sender: str, to: str, payload: bytes) -> None:
        if sender != self._name:
            raise self._not_me(sender)
        if len(payload) > self._me.limits.max_frame:
            raise TransportError(
                f"a frame of {len(payload)} bytes to {to} is above max_frame "
                f"({self._me.limits.max_frame} bytes): raise max_frame at every party"
            )
        peer = self._peers.get(to)
        if peer is not None and peer.connection is not None:
            peer.connection.send_frame(payload)

    def admits(self, peer: str) -> bool:
        known = self._peers.get(peer)
        connection = known.connection if known is not None else None
        return connection is not None and not (connection.full or connection.over)

    def receive(self, receiver: str, sender: str) -> bytes | None:
        if receiver != self._name:
            raise self._not_me(receiver)
        peer = self._peers.get(sender)
        return peer.pop() if peer is not None else None

    def connected(self, peer: str) -> bool:
        known = self._peers.get(peer)
        return known is not None and known.connected()

    def sessions(self, peer: str) -> int:
        """How often this peer has connected since the start."""
        known = self._peers.get(peer)
        return known.sessions if known is not None else 0

    def session(self, peer: str) -> int:
        known = self._peers.get(peer)
        return known.sessions if known is not None and known.connected() else 0

    def hello_of(self, peer: str) -> Hello | None:
        known = self._peers.get(peer)
        return known.hello if known is not None else None

    def certificate(self, peer: str) -> bytes | None:
        known = self._peers.get(peer)
        connection = known.connection if known is not None and known.connected() else None
        return connection.certificate if connection is not None else None

    def down_since(self, peer: str) -> float | None:
        if self.connected(peer):
            return None
        known = self._peers.get(peer)
        return known.down_since if known is not None else self._started

    def last_error(self, peer: str) -> LotorError | None:
        known = self._peers.get(peer)
        return known.error if known is not None else None

    def kick(self, peer: str, error: LotorError) -> None:
        known = self._peers.get(peer)
        if known is not None and known.connection is not None:
            known.connection.fail(error)

    async def _keep_dialling(self, name: str, address: Address) -> None:
        backoff = Backoff(self._me.limits)
        peer = self._peer(name)
        while True:
            await peer.away.wait()
            try:
                await dial(self._me, self._events, address, name)
                await peer.away.wait()
                backoff.lasted(time.monotonic() - peer.up_since)
            except LotorError as error:
                self._note(peer, error)
            await asyncio.sleep(backoff.pause())

    def _note(self, peer: Peer, error: LotorError) -> None:
        """Keep why a peer could not be reached, and log it unless it is the same as before."""
        if peer.connected():
            return
        if str(error) != str(peer.error):
            self._log.note("unreachable", peer.name, str(error))
        peer.error = error

    def _peer(self, name: str) -> Peer:
        if name not in self._peers:
            self._peers[name] = Peer(name, self._started, self._me.limits.unread)
        return self._peers[name]

    def _not_me(self, name: str) -> TransportError:
        return TransportError(f"this process is {self._name} and cannot send or receive as {name}")

    def _on_made(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self._closing:
            connection.leave()
        elif not connection.dialled:
            self._listener.made(connection)

    def _on_hello(self, connection: Connection, subject: Subject, hello: Hello) -> None:
        self._admit(subject, hello)
        peer = self._peers.get(subject.name)
        old = peer.connection if peer is not None and peer.connected() else None
        if old is None and not (connection.dialled or connection.probing):
            self._listener.admit(connection)
        if old is None or old.dialled == connection.dialled or connection.probing:
            return
        # Both sides dialled: both keep the connection that the smaller name dialled.
        if connection.dialled != (self._me.subject.name < subject.name):
            old.suspect()
            raise TransportError(
                f"{self._me.subject.name} and {subject.name} dialled each other, and the other "
                "connection stays"
            )

    def _on_established(self, connection: Connection) -> None:
        if connection.subject is None:
            return
        if not connection.dialled:
            self._listener.greeted(connection)
        peer = self._peer(connection.subject.name)
        old = peer.connection
        peer.up(connection)
        if old is not None:
            old.fail(
                TransportError(
                    f"{peer.name} has connected again, and the newest connection counts: if this "
                    "happens again and again, its kit is used by two processes"
                )
            )
        self._changed(peer.name)

    def _on_arrived(self, connection: Connection, frames: list[bytes]) -> None:
        if connection.subject is None:
            return
        peer = self._peers[connection.subject.name]
        if peer.connection is connection:
            peer.push(frames)
            self._changed(peer.name)

    def _on_drained(self, connection: Connection) -> None:
        if connection.subject is not None:
            self._changed(connection.subject.name)

    def _on_ended(self, connection: Connection) -> None:
        if not connection.dialled:
            self._listener.ended(connection)
        if connection.subject is None:
            return
        peer = self._peer(connection.subject.name)
        if peer.connection is connection:
            peer.down(connection.error)
            self._changed(peer.name)
        elif not (peer.connected() or connection.dialled or connection.probing):
            peer.error = connection.error

    def _on_gone(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._listener.gone(connection)

"""One connection to a peer: TLS, websocket, Hello both ways, then frames."""

import asyncio
from collections.abc import Callable

import msgspec
from websockets.frames import CloseCode

from lotor.core.errors import CertificateError, LotorError, ProtocolError, TransportError
from lotor.crypto.certificates import Certificate, Subject
from lotor.transport.failures import explain
from lotor.transport.handshake import (
    MAX_GREETING,
    Hello,
    check_wire,
    decode_greeting,
    encode_hello,
    encode_refusal,
    refused,
)
from lotor.transport.limits import Limits
from lotor.transport.tls import Tls
from lotor.transport.websocket import WebSocket

_ODD = "another program is there, or a damaged installation of Lotor"
PROBE = "/probe"  # the path of a connection that only asks who is there


class LocalParty(msgspec.Struct, frozen=True):
    """This party, as all its connections show it to others."""

    subject: Subject
    tls: Tls
    hello: Callable[[], Hello]
    limits: Limits


class ConnectionEvents(msgspec.Struct, frozen=True):
    """What a connection calls when something happens; `admit` may raise a LotorError to refuse.

    In this order: made (TCP is there), admit, established, arrived and drained (it was full and
    takes more again; both any number of times), ended (no more frames either way), gone (the
    socket is closed).
    """

    made: Callable[["Connection"], None]
    admit: Callable[["Connection", Subject, Hello], None]
    established: Callable[["Connection"], None]
    arrived: Callable[["Connection", list[bytes]], None]
    drained: Callable[["Connection"], None]
    ended: Callable[["Connection"], None]
    gone: Callable[["Connection"], None]


class Connection(WebSocket):
    """A websocket between two parties who have shown their certificates.

    Text messages are Hello and Refusal, binary messages are frames.
    """

    def __init__(
        self,
        me: LocalParty,
        events: ConnectionEvents,
        target: str | None = None,
        peer: str = "",
        path: str = "/",
    ) -> None:
        """`target` is the dialled address, or None if the other side dialled; `peer` is the
        name that must be found there, or empty for any."""
        super().__init__(me.limits, None if target is None else path)
        self.dialled = target is not None
        self.probing = path == PROBE
        self.subject: Subject | None = None
        self.certificate: bytes | None = None
        self.hello: Hello | None = None
        self.error: LotorError | None = None
        self.is_established = False
        self.closed = asyncio.Event()
        self._me = me
        self._events = events
        self._target = target
        self._expected = peer
        self._stage = "TLS handshake"
        self._early = 0
        self._unfit: LotorError | None = None
        self._has_ended = False

    @property
    def who(self) -> str:
        """The other side for people: its name, as far as known, and its address."""
        name = self.subject.name if self.subject is not None else self._expected
        address = self._target or self.remote
        return f"{name} at {address}" if name else address

    def fail(self, error: LotorError) -> None:
        self.send_text(encode_refusal(error))
        self.send_close(CloseCode.POLICY_VIOLATION)
        self.finish(error)

    def leave(self) -> None:
        """Close because this party stops."""
        self.send_close(CloseCode.GOING_AWAY)
        self.finish(TransportError(f"this party closed its connection to {self.who}"))

    def finish(self, error: LotorError) -> None:
        self.error = self.error or error
        self.end()
        # In the next turn, because the caller may be in the middle of a send.
        self._loop.call_soon(self._end_once)

    def give_up(self, error: LotorError) -> None:
        self.error = self.error or error
        self.abort()
        self._loop.call_soon(self._end_once)

    def suspect(self) -> None:
        """Find out soon whether the other side is still there."""
        # Doubted again and again, it still has to answer the first time.
        if self.is_established and not self.over and not self._doubted:
            self._doubted = True
            self.keep_alive(min(self._me.limits.handshake, self._me.limits.keep_alive))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.set_timer(self._me.limits.handshake, self._too_late)
        self._events.made(self)
        if self.over:
            return
        try:
            context = self._me.tls.client() if self.dialled else self._me.tls.server()
        except LotorError as error:  # this party's own files: nothing for the other side
            self.finish(error)
        else:
            self.start_tls(context)

    def secured(self, certificate: bytes | None) -> None:
        self._stage = "websocket upgrade"
        try:
            shown = Certificate.from_der(certificate or b"")
            # Signed by the authority, as TLS has found; whether to believe it comes next.
            self.subject = shown.subject
            self.certificate = certificate
            self._me.tls.check(shown)
            self._check_identity(shown.subject)
        except LotorError as error:
            # A dialler hears the reason by Refusal, for which the websocket must be there.
            self._unfit = error
        if not self.dialled:
            return
        if self._unfit is not None:
            self.finish(self._unfit)
        else:
            self.ask_upgrade()

    def received(self, data: bytes) -> None:
        if not self.is_established:
            self._early += len(data)
            if self._early > MAX_GREETING:
                self.fail(ProtocolError(f"{self.who} sent more than a Hello at first: {_ODD}"))
                return
        super().received(data)

    def upgraded(self, path: str) -> None:
        self._stage = "Hello"
        if isinstance(self._unfit, CertificateError):
            self.fail(self._unfit)
        elif self._unfit is not None:  # this party's own files: nothing for the other side
            self.finish(self._unfit)
        elif self.dialled:
            self._greet()
        else:
            self.probing = path == PROBE

    def text_arrived(self, data: bytes) -> None:
        try:
            greeting = decode_greeting(data, self.who, self._me.hello().wire)
            if not isinstance(greeting, Hello):
                self.finish(refused(greeting, self.who))
            elif self.hello is not None:
                raise ProtocolError(f"{self.who} said Hello twice: {_ODD}")
            else:
                self._on_hello(greeting)
        except LotorError as error:
            self.fail(error)

    def frames_arrived(self, frames: list[bytes]) -> None:
        if self.is_established:
            self._events.arrived(self, frames)
        else:
            self.fail(ProtocolError(f"{self.who} sent a frame before its Hello: {_ODD}"))

    def drained(self) -> None:
        if self.is_established and not self.over:
            self._events.drained(self)

    def broken(self, error: Exception | None) -> None:
        self.error = self.error or explain(error, self.who)
        self._end_once()

    def gone(self) -> None:
        self._end_once()
        self.closed.set()
        self._events.gone(self)

    def _check_identity(self, subject: Subject) -> None:
        if self._expected and subject.name != self._expected:
            raise CertificateError(
                f"{self._expected} was expected at {self._target}, but the certificate there says "
                f"{subject.role} {subject.name}: the address is wrong, or {subject.name} poses as "
                f"{self._expected}"
            )

    def _check_name(self, subject: Subject) -> None:
        # A probe may be one of this very party, by its operator.
        if subject.name == self._me.subject.name and not self.probing:
            raise CertificateError(
                f"{self.who} has this party's own name: the same kit is used twice, or this party "
                "dials itself"
            )

    def _greet(self) -> None:
        try:
            hello = encode_hello(self._me.hello())
        except LotorError as error:  # this party's own fault: nothing for the other side
            self.finish(error)
        else:
            self.send_text(hello)

    def _on_hello(self, hello: Hello) -> None:
        if self.subject is None or self._unfit is not None:
            return
        self._check_name(self.subject)
        check_wire(self._me.subject.name, self._me.hello(), self.subject.name, hello)
        self._events.admit(self, self.subject, hello)
        # The side that was dialled answers only now: its Hello says that it admits the other.
        if not self.dialled:
            self._greet()
        self.hello = hello
        if self.probing and not self.dialled:
            self.leave()
        if self.over:
            return
        self._stage = "frames"
        self.is_established = True
        self.set_timer(self._me.limits.keep_alive, self._check_alive)
        self._events.established(self)

    def _too_late(self) -> None:
        self.fail(
            TransportError(
                f"{self.who} stayed silent in its {self._stage} for {self._me.limits.handshake:g} "
                "s: it hangs, or another program is there"
            )
        )

    def _end_once(self) -> None:
        self.stop_timer()
        if not self._has_ended:
            self._has_ended = True
            self._events.ended(self)

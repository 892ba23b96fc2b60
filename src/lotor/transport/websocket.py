"""A websocket on a TLS stream: text and binary messages, keep-alive, and its limits."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable

from websockets.client import ClientProtocol
from websockets.exceptions import PayloadTooBig
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import WebSocketURI

from lotor.core.errors import LotorError, ProtocolError, TransportError
from lotor.transport.handshake import plain_text
from lotor.transport.limits import Limits
from lotor.transport.stream import TlsStream

# At lower levels the library would log what frames contain.
logger = logging.getLogger("lotor.transport.websocket")
logger.setLevel(logging.ERROR)


class WebSocket(TlsStream):
    """Messages both ways, without fragments, extensions or compression."""

    def __init__(self, limits: Limits, path: str | None) -> None:
        """`path` is what to ask for at the other side, or None if it asks here."""
        super().__init__(server=path is None, outgoing=limits.outgoing)
        self._limits = limits
        self._ws: ClientProtocol | ServerProtocol = (
            ServerProtocol(max_size=limits.max_frame, logger=logger)
            if path is None
            else ClientProtocol(
                WebSocketURI(True, "lotor", 443, path, ""),
                max_size=limits.max_frame,
                logger=logger,
            )
        )
        self._heard = True
        self._doubted = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    @abstractmethod
    def who(self) -> str:
        """The other side, for people."""

    @abstractmethod
    def fail(self, error: LotorError) -> None:
        """Close, and tell the other side why."""

    @abstractmethod
    def give_up(self, error: LotorError) -> None:
        """Close at once, without a word."""

    @abstractmethod
    def finish(self, error: LotorError) -> None:
        """Close after what was sent before."""

    @abstractmethod
    def upgraded(self, path: str) -> None:
        """The websocket is there."""

    @abstractmethod
    def text_arrived(self, data: bytes) -> None:
        """A text message arrived."""

    @abstractmethod
    def frames_arrived(self, frames: list[bytes]) -> None:
        """These binary messages arrived together."""

    def send_frame(self, payload: bytes) -> None:
        """Send a binary message; a peer that does not read the earlier ones is given up."""
        if not self.can_write():
            return
        if self.unsent() + len(payload) > self._limits.outgoing:
            self.clogged()
            return
        self._ws.send_binary(payload)
        self._flush_websocket()

    def send_text(self, data: bytes) -> None:
        if self.can_write():
            self._ws.send_text(data)
            self._flush_websocket()

    def send_close(self, code: CloseCode) -> None:
        if self.can_write():
            self._ws.send_close(code)
            self._flush_websocket()

    def can_write(self) -> bool:
        return not self.over and self._ws.state is State.OPEN

    def ask_upgrade(self) -> None:
        if isinstance(self._ws, ClientProtocol):
            self._ws.send_request(self._ws.connect())
            self._flush_websocket()

    def keep_alive(self, wait: float) -> None:
        """Ask for a sign of life, which must be there after `wait` seconds."""
        self._heard = False
        self.set_timer(wait, self._check_alive)
        if self.can_write():
            self._ws.send_ping(b"")
            self._flush_websocket()

    def set_timer(self, wait: float, then: Callable[[], None]) -> None:
        """Call `then` after `wait` seconds; it replaces what was set before."""
        self.stop_timer()
        self._timer = self._loop.call_later(wait, then)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def received(self, data: bytes) -> None:
        self._heard = True
        self._ws.receive_data(data)
        frames: list[bytes] = []
        for event in self._ws.events_received():
            if self.over:
                break
            if isinstance(event, Frame):
                self._on_frame(event, frames)
            else:
                self._on_upgrade(event)
        if frames:
            self.frames_arrived(frames)
        self._flush_websocket()
        trouble = self._ws.handshake_exc or self._ws.parser_exc
        if trouble is not None and not self.over:
            self.finish(self._senseless(trouble))

    def clogged(self) -> None:
        self.give_up(
            TransportError(
                f"{self.who} does not read what it is sent ({self._limits.outgoing} bytes wait): "
                "its daemon hangs, or the network is too slow; it must connect again"
            )
        )

    def _on_upgrade(self, event: Request | Response) -> None:
        if isinstance(event, Request) and isinstance(self._ws, ServerProtocol):
            self._ws.send_response(self._ws.accept(event))
        if self._ws.handshake_exc is None:
            self.upgraded(event.path if isinstance(event, Request) else "")

    def _on_frame(self, frame: Frame, frames: list[bytes]) -> None:
        if frame.opcode is Opcode.BINARY and frame.fin:
            frames.append(bytes(frame.data))
        elif frame.opcode is Opcode.TEXT and frame.fin:
            if frames:
                self.frames_arrived(frames.copy())
                frames.clear()
            self.text_arrived(bytes(frame.data))
        elif frame.opcode is Opcode.CLOSE:
            said = self._ws.close_rcvd
            reason = f": {plain_text(said.reason)}" if said is not None and said.reason else ""
            self._flush_websocket()
            self.finish(TransportError(f"{self.who} closed the connection{reason}"))
        elif frame.opcode is Opcode.BINARY or frame.opcode is Opcode.TEXT:
            self.fail(ProtocolError(f"{self.who} sent a message in parts: it is another program"))

    def _senseless(self, trouble: Exception) -> LotorError:
        if isinstance(trouble, PayloadTooBig):
            return ProtocolError(
                f"{self.who} sent a frame above {self._limits.max_frame} bytes: raise "
                "max_frame at every party, or find out what it sends"
            )
        return ProtocolError(
            f"{self.who} does not speak this protocol ({plain_text(str(trouble), 200)}): "
            "another program may be there"
        )

    def _check_alive(self) -> None:
        # While reading is paused nothing can be heard, and it is not the other side's fault.
        if self._heard or self.paused:
            self._doubted = False
            self.keep_alive(self._limits.keep_alive)
            return
        self.give_up(
            TransportError(
                f"{self.who} gave no sign of life for {self._limits.keep_alive:g} s: its machine "
                "or the network is down"
            )
        )

    def _flush_websocket(self) -> None:
        # An empty write asks for the end of the stream, which end() brings about.
        writes = self._ws.data_to_send()
        if len(writes) == 1:
            self.write(writes[0])
        elif writes:
            self.write(b"".join(writes))

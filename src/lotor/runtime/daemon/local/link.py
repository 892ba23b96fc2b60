"""One connection to the local interface: its requests, one after the other."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lotor.core.errors import ConfigError
from lotor.runtime.daemon.local.answers import LocalAnswer, LocalRefusedError

if TYPE_CHECKING:
    import h11

MOST_HEAD: Final = 16 * 1024
MOST_BODY: Final = 64 * 1024
READ_BYTES: Final = 16 * 1024
# A client that still sends may miss its answer if the connection is cut at once.
LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 16 * MOST_BODY
# No page may use an answer, keep it, or take it for something else.
_ALWAYS: Final = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))


def load_h11() -> None:
    """Say what is missing before anybody asks."""
    try:
        import h11  # noqa: F401, PLC0415
    except ImportError:
        raise ConfigError(
            "the local interface ([local] in party.toml) needs h11, which is not installed: run "
            "pip install 'lotor[ops]'"
        ) from None


@dataclass(frozen=True, slots=True, repr=False)
class LocalRequest:
    """The head of a request; names of headers are in small letters."""

    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]

    def header(self, name: str) -> list[bytes]:
        """All values of a header."""
        return [value for key, value in self.headers if key == name.encode()]


class LocalLink:
    """Reads requests and writes answers. `idle` as long as nothing of a request has come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        import h11  # noqa: PLC0415

        self._h11 = h11
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._bodiless = False
        self.idle = True

    async def head(self) -> LocalRequest | None:
        """The head of the next request; None if there is none any more."""
        self._bodiless = False
        event = await self._event()
        if not isinstance(event, self._h11.Request):
            return None
        self._bodiless = event.method == b"HEAD"
        return LocalRequest(event.method.decode(), event.target.decode(), tuple(event.headers))

    async def body(self, request: LocalRequest) -> bytes:
        """The body of the request whose head has been read."""
        if any(int(length) > MOST_BODY for length in request.header("content-length")):
            raise _too_large()
        if self._http.they_are_waiting_for_100_continue:
            go_on = self._h11.InformationalResponse(status_code=100, headers=[])
            self._writer.write(self._http.send(go_on))
        body = bytearray()
        while isinstance(event := await self._event(), self._h11.Data):
            body += event.data
            if len(body) > MOST_BODY:
                raise _too_large()
        return bytes(body)

    async def _event(self) -> "h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]":
        try:
            while (event := self._http.next_event()) is self._h11.NEED_DATA:
                data = await self._reader.read(READ_BYTES)
                self.idle = self.idle and not data
                self._http.receive_data(data)
        except self._h11.RemoteProtocolError as error:
            raise LocalRefusedError(
                error.error_status_hint, "http", "this is not HTTP as it should be"
            ) from None
        return event

    async def answer(self, answer: LocalAnswer) -> None:
        """Send an answer; nothing more may come if the request was not read to its end."""
        http = self._http
        if http.their_state is self._h11.SEND_BODY:
            with suppress(self._h11.RemoteProtocolError):
                http.next_event()  # which is its end, if the request has no body
        headers = [
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(answer.body))),
            *_ALWAYS,
            *answer.headers,
        ]
        if http.their_state not in (self._h11.DONE, self._h11.MUST_CLOSE):
            headers.append(("Connection", "close"))
        parts = [http.send(self._h11.Response(status_code=answer.status, headers=headers))]
        if not self._bodiless:
            parts.append(http.send(self._h11.Data(data=answer.body)))
        parts.append(http.send(self._h11.EndOfMessage()))
        self._writer.write(b"".join(part for part in parts if part))
        await self._writer.drain()

    @property
    def answerable(self) -> bool:
        """Whether the client can still be answered."""
        return self._http.our_state in (self._h11.IDLE, self._h11.SEND_RESPONSE)

    def goes_on(self) -> bool:
        """Whether another request may come by this connection."""
        http = self._http
        if http.our_state is not self._h11.DONE or http.their_state is not self._h11.DONE:
            return False
        http.start_next_cycle()
        self.idle = not http.trailing_data[0]
        return True

    async def leave(self) -> None:
        """Close the connection once the client has had the chance to read its answer."""
        with suppress(OSError):  # a timeout is one
            self._writer.write_eof()
            async with asyncio.timeout(LINGER_SECONDS):
                left = LINGER_BYTES
                while left > 0 and (data := await self._reader.read(READ_BYTES)):
                    left -= len(data)
        self.cut()

    def cut(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()


def _too_large() -> LocalRefusedError:
    return LocalRefusedError(
        413, "size", f"the body of the request is longer than {MOST_BODY} bytes: send less at once"
    )

"""Answers HTTP requests of this machine's programs: a few at a time, and not for long."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from lotor.core.errors import (
    InputError,
    JournalWriteError,
    LotorError,
    TransportError,
    UnknownRunError,
)
from lotor.runtime.daemon.address import LOOPBACK, Address
from lotor.runtime.daemon.local.answers import KINDS, LocalAnswer, LocalRefusedError, to_json
from lotor.runtime.daemon.local.guard import Guard
from lotor.runtime.daemon.local.interface import LocalInterface
from lotor.runtime.daemon.local.link import LocalLink, LocalRequest
from lotor.runtime.daemon.local.routes import LocalCall, not_allowed, routed
from lotor.transport.crowd import by_lot

LOOPBACK_6: Final = "::1"
MOST_LINKS: Final = 64
# Accepted in one turn of the event loop, before runs have theirs.
ACCEPTED_TOGETHER: Final = 32
REQUEST_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 10.0
_log = logging.getLogger("lotor.daemon")

Page = Callable[[], LocalAnswer]


class LocalServer:
    """Listens at loopback addresses only. `refused` counts requests by the kind of refusal.

    `pages` are for all, by path; everything else is an operation, and needs the token. `fatal`
    ends the daemon.
    """

    def __init__(
        self,
        interface: LocalInterface,
        pages: Mapping[str, Page],
        token: bytes,
        fatal: Callable[[LotorError], None],
        refused: Counter[str],
    ) -> None:
        self._interface = interface
        self._pages = pages
        self._token = token
        self._fatal = fatal
        self._refused = refused
        self._guard = Guard(0, token)
        self._servers: list[asyncio.Server] = []
        self._closing = False
        self._links: dict[LocalLink, asyncio.Task[object]] = {}
        # Those of them that are owed nothing: they send, or have their answer.
        self._waiting: set[LocalLink] = set()

    @property
    def port(self) -> int:
        return self._guard.port

    @property
    def addresses(self) -> list[Address]:
        """Where it listens."""
        return [Address(*one.getsockname()[:2]) for made in self._servers for one in made.sockets]

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._links)

    async def start(self, port: int, *, ipv6: bool) -> None:
        for host in (LOOPBACK, LOOPBACK_6) if ipv6 else (LOOPBACK,):
            port = await self._listen(host, port)
        self._guard = Guard(port, self._token)
        _log.info(
            "the local interface listens at %s",
            " and ".join(map(str, self.addresses)),
            extra={"event": "local"},
        )

    async def _listen(self, host: str, port: int) -> int:
        try:
            server = await asyncio.start_server(self._serve, host, port, backlog=ACCEPTED_TOGETHER)
        except OSError as error:
            raise TransportError(
                f"the local interface cannot listen at {host}, port {port} ({error.strerror}): "
                "another program uses the port, or this machine has no such address; correct "
                "[local] in party.toml"
            ) from None
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        self._closing = True
        for server in self._servers:
            server.close()
        for link in self._links:
            link.cut()
        await asyncio.gather(*self._links.values())
        self._servers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link, task = LocalLink(reader, writer), asyncio.current_task()
        if self._closing or task is None:
            link.cut()
            return
        self._links[link] = task
        self._waiting.add(link)
        self._make_room()
        try:
            while await self._exchange(link) and link.goes_on():
                pass
            await link.leave()
        except (OSError, TimeoutError):
            pass  # it has gone, or does not read its answer
        finally:
            link.cut()
            self._waiting.discard(link)
            del self._links[link]

    def _make_room(self) -> None:
        """If there are too many, one has to go to which nothing is owed: any of them, by lot."""
        if len(self._links) > MOST_LINKS:
            victim = by_lot(list(self._waiting))
            self._waiting.discard(victim)
            self._note("crowd")
            victim.cut()

    async def _exchange(self, link: LocalLink) -> bool:
        """Answer one request; False if there was none."""
        try:
            answer = await self._answered(link)
        except LocalRefusedError as refused:
            self._note(refused.kind)
            answer = refused.answer
        if answer is None or not link.answerable:
            return False
        async with asyncio.timeout(ANSWER_SECONDS):
            await link.answer(answer)
        self._waiting.add(link)
        return True

    async def _answered(self, link: LocalLink) -> LocalAnswer | None:
        """The answer to the next request; None if there is none any more."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await link.head()
                if request is None:
                    return None
                self._guard.check_place(request)
                if request.target in self._pages:
                    await link.body(request)
                    return self._page(request)
                self._guard.check_token(request)
                call = routed(request.method, request.target)
                arguments = call.arguments(await link.body(request))
        except TimeoutError:
            if link.idle:
                return None
            raise LocalRefusedError(
                408, "slow", f"the request took longer than {REQUEST_SECONDS:g} s: send it at once"
            ) from None
        self._waiting.discard(link)
        return await self._done(call, arguments)

    def _page(self, request: LocalRequest) -> LocalAnswer:
        if request.method != "GET":
            raise not_allowed("GET")
        return self._pages[request.target]()

    async def _done(self, call: LocalCall, arguments: list[object]) -> LocalAnswer:
        """Do what a request asks for."""
        try:
            result = call.route.operation(self._interface, *arguments)
            if isinstance(result, Iterator):
                result = await _listed(result)
            return LocalAnswer(200, to_json(result))
        except UnknownRunError as error:
            raise LocalRefusedError(404, "unknown", str(error)) from None
        except InputError as error:
            raise LocalRefusedError(400, "input", str(error)) from None
        except LotorError as error:
            if isinstance(error, JournalWriteError):
                self._fatal(error)
            raise LocalRefusedError(503, "failed", str(error)) from None
        except Exception as error:
            # The text of an error that nobody has foreseen might show what is secret.
            text = f"the local interface failed with {type(error).__name__}: report this"
            _log.error(text, extra={"event": "local-failed"})
            raise LocalRefusedError(500, "failed", text) from None

    def _note(self, kind: str) -> None:
        """Count a refusal, and log the first one of its kind: nobody can fill the disk."""
        self._refused[kind] += 1
        if self._refused[kind] == 1:
            # Nothing that the request itself says: it may be hostile, or hold a secret.
            _log.warning(
                "the local interface refused a request: %s (/metrics counts further ones)",
                KINDS[kind],
                extra={"event": "local-refused"},
            )


async def _listed(documents: Iterator[object]) -> list[object]:
    """All documents; runs have their turn after each, since one may take a millisecond."""
    found = []
    for document in documents:
        found.append(document)
        await asyncio.sleep(0)
    return found

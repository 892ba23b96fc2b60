"""A party with a local interface and runs in its journal, and somebody who asks it."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from lotor.runtime.daemon.config import LocalTable, OwnerTable, PartyConfig, write_config
from lotor.runtime.daemon.local.client import LocalClient
from lotor.runtime.daemon.local.guard import read_token
from lotor.runtime.daemon.local.server import LocalServer
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.serving import open_kit, served
from lotor.runtime.durable.journal import RUNNING, WAITING, RunRow
from lotor.sandbox.kits import make_kits
from runtime.daemon.stage import Lines

WAITS, GOES_ON = "aa" * 16, "bb" * 16
DECISION = f"{GOES_ON}/1"
OWNER = OwnerTable(pull="json:loads", reward_range=(0.0, 2.0))


@dataclass(frozen=True)
class Answer:
    """What came back; `closed` if the connection was."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Desk:
    """A daemon whose local interface is asked."""

    node: Node
    token: str
    log: list[str] = field(default_factory=list)

    @property
    def server(self) -> LocalServer:
        assert self.node.local is not None
        return self.node.local.server

    @property
    def client(self) -> LocalClient:
        return LocalClient(self.server.port, self.token.encode())

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def request(
        self,
        method: str = "GET",
        path: str = "/v1/runs",
        body: bytes = b"",
        **headers: str | None,
    ) -> bytes:
        """A request as it goes out; None leaves a header out, and `_` stands for `-`."""
        given: dict[str, str | None] = {
            "host": self.host,
            "authorization": f"Bearer {self.token}",
            "connection": "close",
            "content_length": str(len(body)),
            **headers,
        }
        lines = [f"{key.replace('_', '-')}: {value}" for key, value in given.items() if value]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body

    async def ask(self, *pieces: bytes, ends: bool = False) -> bytes:
        """All that comes back until the connection is closed; `ends`: nothing more will be sent."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if ends:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.transport.abort()

    async def answer(
        self, method: str = "GET", path: str = "/v1/runs", body: bytes = b"", **headers: str | None
    ) -> Answer:
        return parsed(await self.ask(self.request(method, path, body, **headers)))

    def written(self) -> list[str]:
        """Everything that is in the journal."""
        return list(self.node.journal.database.iterdump())


def parsed(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return Answer(int(first.split()[1]), headers, body)


@cache
def kit() -> Path:
    """One kit for all tests of this process: making keys takes longer than most of them."""
    return make_kits(Path(mkdtemp()), {"lyon": "owner"})["lyon"]


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """A party with one run that waits for approval, and one with a decision in doubt."""
    config = PartyConfig(state=str(folder / "state"), owner=OWNER, local=LocalTable(port=0))
    write_config(kit() / "party.toml", config)
    log: list[str] = []
    handler, logger = Lines(log), logging.getLogger("lotor.daemon")
    logger.addHandler(handler)
    try:
        with open_kit(kit()) as at:
            assert at.journal.lock()
            note = f"in doubt: nobody knows whether decision {DECISION} was carried out"
            at.journal.add(RunRow(WAITS, b"", b"", "lyon", WAITING, "", 1.0, 1.0, "0"), None)
            row = RunRow(GOES_ON, b"", b"", "lyon", RUNNING, note, 2.0, 2.0, "0")
            at.journal.add(row, b"state")
            async with served(at) as node:
                token = read_token(config.state_folder(kit())).decode()
                yield Desk(node, token, log)
    finally:
        logger.removeHandler(handler)


def at_desk(scene: Callable[[Desk], Awaitable[None]], folder: Path) -> None:
    async def whole() -> None:
        async with desk(folder) as made:
            await scene(made)

    asyncio.run(whole())

"""Far more waits for a peer than its connection admits: all of it arrives, once and in order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.core.effects import Checkpoint, Message, Receive, Send, Steps
from lotor.core.errors import TransportError
from lotor.crypto.signing import Identity
from lotor.protocols.form import AnyForm, Assignment, Member, Role, RunPlan
from lotor.protocols.party import Party
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import Address, PartyConfig
from lotor.runtime.durable.journal import FINISHED
from lotor.sandbox.federation import free_port
from lotor.transport import NetworkTransport
from toy import ServedForm, ServedProtocol, ToyOrder

SIZE, COUNT = 60_000, 400  # far more than the kernel keeps for a connection on loopback
OUTGOING = 800_000
ANY = 10**9
ORDER = StartRun("pages", 1, {}, {"reader": ["bert"]})


class Page(Message, frozen=True, tag="pages/1/page"):
    number: int
    text: bytes


class Read(Message, frozen=True, tag="pages/1/read"):
    numbers: list[int]


class Writer(Party):
    """Sends all its pages at once, and is told which of them were read."""

    def steps(self) -> Steps[object]:
        yield Checkpoint(lambda: b"begun")
        for number in range(COUNT):
            yield Send("reader", Page(number, bytes(SIZE)))
        read: Read = yield Receive("reader", Read)
        return read.numbers


class Reader(Party):
    """Nothing of what it reads is durable before it has read all."""

    def steps(self) -> Steps[object]:
        yield Checkpoint(lambda: b"begun")
        numbers = []
        for _ in range(COUNT):
            page: Page = yield Receive("writer", Page)
            numbers.append(page.number)
        yield Send("writer", Read(numbers))
        return None


class PagesForm(ServedForm):
    wire: ClassVar[str] = "pages/1"
    roles: ClassVar[tuple[Role, ...]] = (Role.one("writer"), Role.one("reader"))
    hubs: ClassVar[tuple[str, ...]] = ("reader",)

    def open(
        self,
        protocol: SecureProtocol,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        return msgspec.msgpack.encode(ToyOrder(run, budget)), Writer()

    def plan(self, order: bytes) -> RunPlan:
        return RunPlan("", 1, 1, self.seats_of({}))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        return Writer() if assignment.seat == "writer" else Reader()


@dataclass(frozen=True)
class Pages(ServedProtocol):
    name: ClassVar[str] = "pages"
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": PagesForm}


class GatedTransport(NetworkTransport):
    """With small limits; a daemon takes no more pages from it than it is let."""

    def __init__(self, **given: Any) -> None:
        small = msgspec.structs.replace(
            given.pop("limits"), outgoing=OUTGOING, unread=OUTGOING, backoff_first=0.01
        )
        super().__init__(**given, limits=small)
        self.gate = ANY

    def receive(self, receiver: str, sender: str) -> bytes | None:
        if self.gate == 0:
            return None
        frame = super().receive(receiver, sender)
        if frame is not None and len(frame) > SIZE:
            self.gate -= 1
        return frame

    def let(self, pages: int) -> None:
        self.gate = pages
        self._changed("anna")

    def unsent(self, peer: str) -> int:
        connection = self._peers[peer].connection
        return connection.unsent() if connection is not None else 0


class Library(DaemonGroup):
    """anna writes and bert reads."""

    def net(self, name: str) -> GatedTransport:
        transport = self.nodes[name].connections.transport
        assert isinstance(transport, GatedTransport)
        return transport

    async def ordered(self) -> str:
        """A run in which bert has taken three pages, and no more, while anna has sent all."""
        self.net("bert").gate = 3
        run = self.order("anna", ORDER)
        live = await self.live("anna", run)
        await until(lambda: live.host is not None and live.host.messages_sent == COUNT)
        await until(lambda: self.net("bert").gate == 0)
        return run

    async def comes_back(self, times: int) -> None:
        """Until bert is back, and has taken a quarter of the pages, and no more."""
        anna, bert = self.net("anna"), self.net("bert")
        await until(lambda: anna.sessions("bert") == times + 1)
        bert.let(COUNT // 4)
        await until(lambda: bert.gate == 0)

    async def read(self, run: str) -> None:
        """Until all was read, each page once, in order."""
        for name in self.roles:
            await self.state(name, run, FINISHED)
        assert self.nodes["anna"].journal.output(run) == list(range(COUNT))


@asynccontextmanager
async def library(folder: Path) -> AsyncIterator[Library]:
    bert = Address("127.0.0.1", free_port())
    configs = {
        "anna": PartyConfig(peers={"bert": bert}, members={"reader": ("bert",)}),
        "bert": PartyConfig(listen=bert),
    }
    roles = {"anna": "writer", "bert": "reader"}
    group = Library(folder, roles, configs, {"pages": Pages}, transport=GatedTransport)
    await group.up()
    try:
        yield group
    finally:
        await group.down()


def play(folder: Path, scene: Callable[[Library], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with library(folder / "f") as group:
            await scene(group)

    asyncio.run(whole())


def test_a_party_that_comes_back_gets_all_that_waits_for_it(tmp_path: Path) -> None:
    async def scene(group: Library) -> None:
        run = await group.ordered()
        await group.down("bert")
        await group.up("bert")
        await group.read(run)
        assert group.net("anna").sessions("bert") == 2

    play(tmp_path, scene)


def test_a_slow_reader_keeps_its_connection_in_all_runs(tmp_path: Path) -> None:
    async def scene(group: Library) -> None:
        runs = [await group.ordered(), group.order("anna", ORDER)]
        bert, most = group.net("bert"), 0
        for _ in range(COUNT):
            bert.let(2)
            await asyncio.sleep(0)
            most = max(most, group.net("anna").unsent("bert"))
        bert.let(ANY)
        for run in runs:
            await group.read(run)
        # One page may be behind the mark; another connection would have shown that one was cut.
        assert 0 < most < OUTGOING // 4 + 2 * SIZE
        assert group.net("anna").sessions("bert") == 1

    play(tmp_path, scene)


@pytest.mark.parametrize("restarts", [False, True], ids=["cut", "restarted"])
def test_a_reader_that_drops_in_the_middle_and_returns(tmp_path: Path, restarts: bool) -> None:
    async def scene(group: Library) -> None:
        run = await group.ordered()
        for times in (1, 2, 3):
            if restarts:
                await group.down("bert")
                await group.up("bert")
            else:
                group.net("bert").kick("anna", TransportError("the network is down"))
            await group.comes_back(times)
        group.net("bert").let(ANY)
        await group.read(run)
        assert group.net("anna").sessions("bert") == 4

    play(tmp_path, scene)

"""Daemons in one event loop, on loopback, for tests that look into them."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.serving import open_kit, served
from lotor.sandbox import Federation
from lotor.sandbox.kits import make_kits
from lotor.transport import NetworkTransport, PartyTransportFactory


@dataclass
class DaemonGroup:
    """Kits by name, their configurations, and the daemons that are up."""

    folder: Path
    roles: Mapping[str, str]
    configs: Mapping[str, PartyConfig]
    protocols: Mapping[str, type[SecureProtocol]]
    clock: Clock | None = None
    transport: PartyTransportFactory = NetworkTransport
    kits: dict[str, Path] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    _stacks: dict[str, AsyncExitStack] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kits = make_kits(self.folder, self.roles)
        for name, config in self.configs.items():
            write_config(self.kits[name] / "party.toml", config)

    async def up(self, *names: str) -> None:
        for name in names or self.roles:
            stack = self._stacks[name] = AsyncExitStack()
            at = stack.enter_context(open_kit(self.kits[name]))
            assert at.journal.lock()
            serving = served(
                at, protocols=self.protocols, clock=self.clock, transport=self.transport
            )
            self.nodes[name] = await stack.enter_async_context(serving)

    async def down(self, *names: str) -> None:
        for name in names or list(self._stacks):
            await self._stacks.pop(name).aclose()
            self.nodes.pop(name, None)  # none, if it could not even be made

    def order(self, opener: str, order: commands.StartRun) -> str:
        run = secrets.token_hex(16)
        self.nodes[opener].journal.commands.add(run, commands.to_bytes(order))
        # Its own connection does not see its own writing as a change.
        self.nodes[opener].commands.look_again()
        return run

    def tell(self, name: str, run: str, command: commands.Command) -> None:
        self.nodes[name].journal.commands.add(run, commands.to_bytes(command))
        self.nodes[name].commands.look_again()

    async def live(self, name: str, run: str) -> LiveRun:
        await until(lambda: run in self.nodes[name].runs)
        return self.nodes[name].runs[run]

    async def state(self, name: str, run: str, state: str) -> LiveRun:
        live = await self.live(name, run)
        await until(lambda: live.state == state)
        return live


class SandboxDaemons(DaemonGroup):
    """Daemons of a federation whose kits were made elsewhere."""

    def __post_init__(self) -> None:
        """Nothing is to be made."""

    @classmethod
    def of(
        cls, made: Federation, protocols: Mapping[str, type[SecureProtocol]]
    ) -> "SandboxDaemons":
        return cls(made.folder, made.members, {}, protocols, kits=made.kits)


async def until(condition: Callable[[], object], seconds: float = 90.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)

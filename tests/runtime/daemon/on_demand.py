"""Runs whose rounds begin when they are asked for, in daemons of one loop."""

from daemons import SandboxDaemons, until
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.round_gate import RoundGate
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

ON_DEMAND = Pace(on_demand=True)


class PacedRun:
    """One run of a federation, and how far it is."""

    def __init__(self, made: Federation, protocol: SecureProtocol) -> None:
        self.group = SandboxDaemons.of(made, {protocol.name: type(protocol)})
        self.made, self.protocol = made, protocol
        self.journals = Journals(made)
        self.id = ""

    async def begin(self, budget: int, pace: Pace = ON_DEMAND) -> int:
        """Order it; how many rounds come first, unasked."""
        await self.group.up()
        listed = read_config(self.made.kits[self.made.opener] / "party.toml").members
        members = {role: list(names) for role, names in listed.items()}
        options: dict[str, str | int] = {**self.protocol.order_options()}
        order = StartRun(self.protocol.name, budget, options, members, pace)
        self.id = self.group.order(self.made.opener, order)
        live = await self.group.live(self.made.opener, self.id)
        return live.agreement.plan.first_rounds

    def gates(self) -> dict[str, RoundGate]:
        nodes = self.group.nodes.items()
        return {
            name: node.runs[self.id].pacing.gate for name, node in nodes if self.id in node.runs
        }

    async def waits_after(self, t: int) -> None:
        """Until round t has come to its end, and the next one waits."""

        def waits() -> bool:
            held = [gate.held for gate in self.gates().values() if gate.held]
            return min(held, default=0) == t + 1 and self.journals.round(self.id) == t

        await until(waits)

    async def restart(self, *names: str) -> None:
        for name in names:
            await self.group.down(name)
            await self.group.up(name)

    async def finishes(self) -> None:
        live = await self.group.live(self.made.opener, self.id)
        await until(lambda: live.state != RUNNING)
        assert (live.state, live.note) == (FINISHED, "")

"""A SAMBA federation whose owners have inboxes, and a clerk at each of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path

import msgspec

import lotor
from daemons import SandboxDaemons, until
from late_outcomes import arrivals, plain_with
from lotor.core.errors import JournalError
from lotor.environments import Environment
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import OwnerTable, read_config, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

MEANS = {"lyon": 0.3, "porto": 0.6}
ROLES = {"controller": ["controller"], "comp": ["comp"], "owner": list(MEANS)}
BUDGET, SEED = 26, 7
LATE: dict[str, str | int] = {"outstanding": 5, "batch": 2}


class Clinics:
    """The federation; `rewards` has what its clerks know."""

    def __init__(self, folder: Path, owner: OwnerTable | None = None) -> None:
        self.cast = hospitals(MEANS, budget=BUDGET, seed=SEED, policy="ucb")
        form = lotor.Samba.form_called("shared")
        self.federation = Federation(folder / "f", form, self.cast, SEED)
        self.federation.prepare()
        for name in MEANS:
            path = self.federation.kits[name] / "party.toml"
            table = owner or OwnerTable(inbox=True)
            write_config(path, msgspec.structs.replace(read_config(path), owner=table))
        self.group = SandboxDaemons.of(self.federation, {"samba": lotor.Samba})
        self.pull = self.cast.environment.start(SEED)
        self.rewards: dict[str, float] = {}

    def kit(self, name: str) -> Path:
        return self.federation.kits[name]

    def inbox(self, name: str) -> lotor.Inbox:
        return lotor.Inbox(self.kit(name))

    def reward(self, one: lotor.OpenDecision) -> float:
        """What a decision pays, however often it is asked for."""
        if one.id not in self.rewards:
            assert one.arm is not None
            decision = lotor.Decision.named(one.run, one.round, one.arm)
            self.rewards[one.id] = self.pull(decision)  # type: ignore[assignment]
        return self.rewards[one.id]

    async def start(self, **options: str | int) -> str:
        await self.group.up()
        order = StartRun("samba", BUDGET, {"policy": "ucb", **options}, ROLES)
        return self.group.order("customer", order)

    def tell(self, name: str, wanted: Callable[[lotor.OpenDecision], bool]) -> int:
        """A clerk tells the outcomes that are wanted; how many there were."""
        with closing(self.inbox(name)) as inbox:
            # An arm's outcomes are drawn in the order of its rounds, and told in any.
            rewards = {one: self.reward(one) for one in inbox.waiting()}
            return sum(inbox.tell(one.id, paid) for one, paid in rewards.items() if wanted(one))

    def waits(self, name: str, count: int) -> bool:
        """Whether so many decisions wait for their outcomes."""
        with suppress(JournalError), closing(self.inbox(name)) as inbox:
            return len(inbox.waiting()) >= count
        return False

    async def ended(self, run: str) -> LiveRun:
        live = await self.group.live("customer", run)
        await until(lambda: live.state != RUNNING)
        assert (live.state, live.note) == (FINISHED, "")
        return live

    def assert_equals_plain(self, run: str, environment: Environment | None = None) -> None:
        """The arms and the total of plain with the same arrivals."""
        arms, total = plain_with(
            arrivals([self.kit(name) for name in MEANS], run),
            environment or self.cast.environment,
            policy="ucb",
            budget=BUDGET,
            seed=SEED,
            batch=2,
        )
        journals = Journals(self.federation)
        assert journals.trajectory(run, BUDGET) == arms
        assert journals.total(run) == total


def play(clinics: Clinics, scene: Callable[[], Awaitable[str]]) -> str:
    async def scenario() -> str:
        try:
            return await scene()
        finally:
            await clinics.group.down()

    return asyncio.run(scenario())

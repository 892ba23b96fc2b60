"""Clinics whose runs continue each other, as daemons in one loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.cast import CastMember
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.durable.journal import FINISHED, REFUSED, RUNNING
from lotor.sandbox import Federation

SEED, FIRST, SECOND = 7, 14, 16
FREE = Pace()
HELD = {"lyon": 1, "porto": 2, "graz": 1}
CLINIC = """
def pull(decision):
    return ((decision.arm * 7919 + decision.round * 104729 + 17) % 1009) / 1009
"""


def pull(decision: lotor.Decision) -> float:
    return ((decision.arm * 7919 + decision.round * 104729 + 17) % 1009) / 1009


def arms(k: int) -> lotor.CallbackArms:
    return lotor.CallbackArms([pull] * k)


@dataclass
class Clinics:
    """Three owners, of which the last one need not take part."""

    group: SandboxDaemons
    made: Federation

    async def run(
        self, budget: int, *owners: str, continues: str = "", keep: bool = True, pace: Pace = FREE
    ) -> str:
        members = {"controller": ["controller"], "comp": ["comp"], "owner": list(owners)}
        options: dict[str, str | int] = {"policy": "ucb", "form": "shared", "keep": int(keep)}
        order = StartRun("samba", budget, options, members, pace, continues)
        return self.group.order("customer", order)

    async def finished(self, run: str) -> float:
        live = await self.group.live("customer", run)
        await until(lambda: live.state != RUNNING)
        assert (live.state, live.note) == (FINISHED, "")
        seats = live.agreement.plan.seats
        for name in seats:
            other = await self.group.live(name, run)
            await until(other.over.is_set)
            assert other.state == FINISHED
        total = self.group.nodes["customer"].journal.output(run)
        assert isinstance(total, float)
        return total

    async def impossible(self, run: str) -> str:
        """Why the customer cannot even order it."""
        journal = self.group.nodes["customer"].journal
        await until(lambda: journal.commands.impossible(run))
        return str(journal.commands.impossible(run))

    async def refused(self, run: str) -> str:
        live = await self.group.state("customer", run, REFUSED)
        return live.note

    async def restart(self, *names: str) -> None:
        await self.group.down(*names)
        await self.group.up(*names)

    def pulled(self, run: str) -> list[int]:
        """The arms of a run, as the owners' journals have them."""
        found = {}
        for name in HELD:
            rows = self.group.nodes[name].journal.database.execute(
                "SELECT decision FROM pulls WHERE run = ? AND decision IS NOT NULL", (run,)
            )
            for (decision,) in rows:
                _, arm, t = decision.split("/")
                found[int(t)] = int(arm)
        return [found[t] for t in sorted(found)]


def play(folder: Path, scene: Callable[[Clinics], Awaitable[None]], *, keep: bool = True) -> None:
    cast = hospitals(dict.fromkeys(HELD, 0.5), budget=1, seed=SEED, policy="ucb")
    members = dict(cast.members)
    for name, held in HELD.items():
        members[name] = CastMember(
            "owner",
            table={"pull": "clinic:pull", "repeatable": True, "arms": held},
            files={"clinic.py": CLINIC},
            draws=True,
        )
    made = Federation(
        folder, lotor.Samba.form_called("shared"), replace(cast, members=members), SEED
    )
    made.prepare()
    for name in HELD:
        path = made.kits[name] / "party.toml"
        config = read_config(path)
        assert config.consent is not None
        consent = msgspec.structs.replace(config.consent, keep=keep)
        write_config(path, msgspec.structs.replace(config, consent=consent))

    async def whole() -> None:
        group = SandboxDaemons.of(made, {"samba": lotor.Samba})
        try:
            await group.up()
            await scene(Clinics(group, made))
        finally:
            await group.down()

    asyncio.run(whole())


def plain(*runs: tuple[int, int]) -> list[lotor.Result]:
    """Runs in a row, each of so many arms and rounds."""
    chosen, done = lotor.Samba(lotor.UCB(), keep=True).plain(), list[lotor.Result]()
    for k, budget in runs:
        earlier = done[-1] if done else None
        done.append(lotor.run(chosen, arms(k), budget=budget, seed=SEED, continues=earlier))
    return done

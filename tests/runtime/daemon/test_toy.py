"""The runtime knows nothing of SAMBA: three other roles, two of them listening, run on it."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.runtime.daemon.commands import StartRun, Stop
from lotor.runtime.daemon.config import Address, ConsentRules, LimitsTable, OwnerTable, PartyConfig
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.journal import FAILED, FINISHED, STOPPED
from lotor.sandbox.federation import free_port
from lotor.transport import MemoryNetwork, NetworkTransport, PartyTransportFactory
from toy import Toy

ROLES = {"anna": "caller", "bert": "doubler", "carl": "adder"}
TOYS = {"toy": Toy}
PULL = """
asked = []

def pull(decision):
    asked.append(decision.id)
    return 1.0
"""


def configs(wait: float = 60.0) -> dict[str, PartyConfig]:
    bert = Address("127.0.0.1", free_port())
    carl = Address("127.0.0.1", free_port([bert]))
    limits = LimitsTable(wait=wait)
    return {
        "anna": PartyConfig(
            peers={"bert": bert, "carl": carl},
            limits=limits,
            members={"doubler": ("bert",), "adder": ("carl",)},
        ),
        "bert": PartyConfig(listen=bert, peers={"carl": carl}, limits=limits),
        "carl": PartyConfig(
            listen=carl,
            limits=limits,
            owner=OwnerTable(pull="world:pull", repeatable=True),
            consent=ConsentRules(
                customers=("*",), policies=("*",), least_budget=1, total_budget=10**6, code=("*",)
            ),
        ),
    }


def order(budget: int) -> StartRun:
    return StartRun("toy", budget, {}, {"doubler": ["bert"], "adder": ["carl"]})


@pytest.fixture(params=["network", "memory"])
def transport(request: pytest.FixtureRequest) -> PartyTransportFactory:
    """What the daemons are connected by: they must not care."""
    return NetworkTransport if request.param == "network" else MemoryNetwork().join


async def toy_group(folder: Path, transport: PartyTransportFactory) -> DaemonGroup:
    group = DaemonGroup(folder, ROLES, configs(), TOYS, transport=transport)
    (group.kits["carl"] / "world.py").write_text(PULL)
    await group.up()
    return group


def _beyond(live: LiveRun, t: int) -> bool:
    return live.round > t


def wait_no_longer(node: Node) -> None:
    """As if the deadline for those who are away had come."""
    context = node.context
    limits = msgspec.structs.replace(context.config.limits, wait=0.001)
    context.config = msgspec.structs.replace(context.config, limits=limits)


def expected(budget: int) -> int:
    return sum(2 * t + 1 for t in range(1, budget + 1))


def test_three_other_roles_run_and_two_runs_overlap(
    tmp_path: Path, transport: PartyTransportFactory
) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", transport)
        try:
            runs = [group.order("anna", order(budget)) for budget in (40, 60)]
            for run, budget in zip(runs, (40, 60), strict=True):
                live = await group.state("anna", run, FINISHED)
                await until(live.over.is_set)
                assert group.nodes["anna"].journal.output(run) == expected(budget)
                for name in ROLES:
                    await group.state(name, run, FINISHED)
        finally:
            await group.down()

    asyncio.run(scenario())


def test_a_party_that_comes_back_goes_on(tmp_path: Path, transport: PartyTransportFactory) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", transport)
        try:
            run = group.order("anna", order(1000))
            for name in ("carl", "bert", "anna"):
                live = await group.live(name, run)
                await until(partial(_beyond, live, live.round + 20))
                await group.down(name)
                await asyncio.sleep(0.05)
                await group.up(name)
            live = await group.state("anna", run, FINISHED)
            assert group.nodes["anna"].journal.output(run) == expected(1000)
            assert group.nodes["carl"].journal.pulled(run) == (1000, 1.0)
        finally:
            await group.down()

    asyncio.run(scenario())


def test_who_is_missing_is_named_and_after_the_deadline_the_run_ends(
    tmp_path: Path, transport: PartyTransportFactory
) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", transport)
        try:
            run = group.order("anna", order(10**6))
            live = await group.live("anna", run)
            await until(lambda: live.round > 5)
            await group.down("carl")
            await until(lambda: "waits for adder, away since" in live.note)
            other = group.nodes["bert"].runs[run]
            for name in ("anna", "bert"):
                wait_no_longer(group.nodes[name])
            await until(lambda: live.state == other.state == FAILED)
            assert "adder stayed away for" in live.note
            await group.up("carl")
            back = await group.state("carl", run, FAILED)
            assert "adder stayed away for" in back.note
        finally:
            await group.down()

    asyncio.run(scenario())


def test_stop_ends_a_run_on_all_sides_also_for_who_was_away(
    tmp_path: Path, transport: PartyTransportFactory
) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", transport)
        try:
            run = group.order("anna", order(10**6))
            live = await group.live("anna", run)
            await until(lambda: live.round > 5)
            await group.down("carl")
            group.tell("bert", run, Stop("lunch"))
            for name in ("anna", "bert"):
                ended = await group.state(name, run, STOPPED)
                assert ended.note == "stopped by bert: lunch"
            await group.down("anna", "bert")
            await group.up()
            ended = await group.state("carl", run, STOPPED)
            assert ended.note == "stopped by bert: lunch"
        finally:
            await group.down()

    asyncio.run(scenario())

"""The runtime knows nothing of SAMBA: three other roles, two of them listening, run on it."""

import asyncio
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.runtime.daemon.commands import StartRun, Stop
from lotor.runtime.daemon.config import Address, ConsentRules, LimitsTable, OwnerTable, PartyConfig
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.status import MISSING, read_kept
from lotor.runtime.durable.journal import FINISHED, RUNNING, STOPPED
from lotor.sandbox.federation import free_port
from lotor.transport import MemoryNetwork, NetworkTransport, PartyTransportFactory
from runtime.daemon.stage import Lines
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


@pytest.fixture
def log() -> Iterator[list[str]]:
    """What daemons log."""
    lines: list[str] = []
    handler, logger = Lines(lines), logging.getLogger("lotor.daemon")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


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


def test_a_missing_peer_pauses_a_run_for_as_long_as_it_takes(
    tmp_path: Path, transport: PartyTransportFactory, log: list[str]
) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", transport)
        try:
            run = group.order("anna", order(400))
            live = await group.live("anna", run)
            await until(lambda: live.round > 5)
            await group.down("carl")
            await until(lambda: "waits for adder, away since" in live.note)
            for name in ("anna", "bert"):
                wait_no_longer(group.nodes[name])
            await until(lambda: "end the run with `lotor runs stop`" in live.note)
            other = group.nodes["bert"].runs[run]
            await until(lambda: "end the run with `lotor runs stop`" in other.note)
            for _ in range(3):
                live.look_after()
            assert live.state == other.state == RUNNING
            warned = [line for line in log if "adder stays away" in line]
            assert len(warned) == 2  # by each of the two, once
            await group.up("carl")
            await group.state("anna", run, FINISHED)
            assert group.nodes["anna"].journal.output(run) == expected(400)
        finally:
            await group.down()

    asyncio.run(scenario())


def test_since_when_a_peer_is_missing_outlives_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        group = await toy_group(tmp_path / "f", MemoryNetwork().join)
        try:
            run = group.order("anna", order(10**6))
            live = await group.live("anna", run)
            await until(lambda: live.round > 5)
            await group.down("carl")
            await until(lambda: "adder" in said(group, "anna", run).missing)
            before = said(group, "anna", run)
            assert before.state == MISSING
            assert before.since == before.missing["adder"] <= before.time
            await group.down("anna")
            await group.up("anna")
            await until(
                lambda: (
                    said(group, "anna", run).time > before.time
                    and set(said(group, "anna", run).missing) == {"adder"}
                )
            )
            after = said(group, "anna", run)
            assert (after.since, after.missing) == (before.since, before.missing)
        finally:
            await group.down()

    asyncio.run(scenario())


def said(group: DaemonGroup, name: str, run: str) -> Status:
    """What a party has last told of a run, as its journal has it."""
    live = group.nodes[name].runs[run]
    return read_kept(group.nodes[name].journal.statuses(run))[live.seat]


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

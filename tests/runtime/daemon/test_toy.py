"""The runtime knows nothing of SAMBA: three other roles, two of them listening, run on it."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec

from household import Household, until
from lotor.runtime.daemon.commands import StartRun, Stop
from lotor.runtime.daemon.config import Address, ConsentRules, LimitsTable, OwnerTable, PartyConfig
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.loopback import free_port
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.journal import FAILED, FINISHED, STOPPED
from toy import ToyDeployment

ROLES = {"anna": "caller", "bert": "doubler", "carl": "adder"}
TOYS = {"toy": ToyDeployment()}
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
                customers=("*",), policies=("*",), least_budget=1, total_budget=10**6
            ),
        ),
    }


def order(budget: int) -> StartRun:
    return StartRun("toy", budget, {}, {"doubler": ["bert"], "adder": ["carl"]})


async def toy_house(folder: Path) -> Household:
    house = Household(folder, ROLES, configs(), TOYS)
    (house.kits["carl"] / "world.py").write_text(PULL)
    await house.up()
    return house


def _beyond(live: LiveRun, t: int) -> bool:
    return live.round > t


def wait_no_longer(node: Node) -> None:
    """As if the deadline for those who are away had come."""
    context = node.context
    limits = msgspec.structs.replace(context.config.limits, wait=0.001)
    context.config = msgspec.structs.replace(context.config, limits=limits)


def expected(budget: int) -> int:
    return sum(2 * t + 1 for t in range(1, budget + 1))


def test_three_other_roles_run_and_two_runs_overlap(tmp_path: Path) -> None:
    async def scenario() -> None:
        house = await toy_house(tmp_path / "f")
        try:
            runs = [house.order("anna", order(budget)) for budget in (40, 60)]
            for run, budget in zip(runs, (40, 60), strict=True):
                live = await house.state("anna", run, FINISHED)
                await until(live.over.is_set)
                assert house.nodes["anna"].journal.output(run) == expected(budget)
                for name in ROLES:
                    await house.state(name, run, FINISHED)
        finally:
            await house.down()

    asyncio.run(scenario())


def test_a_party_that_comes_back_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        house = await toy_house(tmp_path / "f")
        try:
            run = house.order("anna", order(1000))
            for name in ("carl", "bert", "anna"):
                live = await house.live(name, run)
                await until(partial(_beyond, live, live.round + 20))
                await house.down(name)
                await asyncio.sleep(0.05)
                await house.up(name)
            live = await house.state("anna", run, FINISHED)
            assert house.nodes["anna"].journal.output(run) == expected(1000)
            assert house.nodes["carl"].journal.pulled(run) == (1000, 1.0)
        finally:
            await house.down()

    asyncio.run(scenario())


def test_who_is_missing_is_named_and_after_the_deadline_the_run_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        house = await toy_house(tmp_path / "f")
        try:
            run = house.order("anna", order(10**6))
            live = await house.live("anna", run)
            await until(lambda: live.round > 5)
            await house.down("carl")
            await until(lambda: "waits for adder, away since" in live.note)
            other = house.nodes["bert"].runs[run]
            for name in ("anna", "bert"):
                wait_no_longer(house.nodes[name])
            await until(lambda: live.state == other.state == FAILED)
            assert "adder stayed away for" in live.note
            await house.up("carl")
            back = await house.state("carl", run, FAILED)
            assert "adder stayed away for" in back.note
        finally:
            await house.down()

    asyncio.run(scenario())


def test_stop_ends_a_run_on_all_sides_also_for_who_was_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        house = await toy_house(tmp_path / "f")
        try:
            run = house.order("anna", order(10**6))
            live = await house.live("anna", run)
            await until(lambda: live.round > 5)
            await house.down("carl")
            house.tell("bert", run, Stop("lunch"))
            for name in ("anna", "bert"):
                ended = await house.state(name, run, STOPPED)
                assert ended.note == "stopped by bert: lunch"
            await house.down("anna", "bert")
            await house.up()
            ended = await house.state("carl", run, STOPPED)
            assert ended.note == "stopped by bert: lunch"
        finally:
            await house.down()

    asyncio.run(scenario())

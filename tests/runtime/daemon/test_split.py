"""Daemons of a protocol with an actor, a receiver that starts runs, and owners of features."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest

from daemons import DaemonGroup, SandboxDaemons, until
from lotor import PPCB, ContextualArms
from lotor.protocols.ppcb.demo import feature_parties
from lotor.runtime.daemon.commands import Resolve, StartRun
from lotor.runtime.daemon.config import OwnerTable, read_config, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, REFUSED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from split import ARMS, Split, SplitWorld

SEATED = ("server-0", "actor", "receiver", "owner-1", "owner-2")


def federation(folder: Path, budget: int) -> tuple[Federation, SplitWorld]:
    world = SplitWorld(budget)
    arms = ContextualArms(world.contexts.tolist(), world.rewards.tolist())
    # One of its servers and the dealer stay away.
    cast = feature_parties(arms, {"owner-1": 1, "owner-2": ARMS - 1})
    made = Federation(folder, PPCB.form_called("dealt"), cast, seed=7)
    made.prepare()
    return made, world


def set_owner(made: Federation, name: str, owner: OwnerTable) -> None:
    path = made.kits[name] / "party.toml"
    write_config(path, msgspec.structs.replace(read_config(path), owner=owner))


@asynccontextmanager
async def make_group(made: Federation) -> AsyncIterator[DaemonGroup]:
    group = SandboxDaemons.of(made, {"split": Split})
    try:
        await group.up(*SEATED)
        yield group
    finally:
        await group.down()


def order(made: Federation, budget: int) -> StartRun:
    """The toy has seats for some of the members only."""
    listed = read_config(made.kits["receiver"] / "party.toml").members
    members = {role: [name for name in names if name in SEATED] for role, names in listed.items()}
    return StartRun("split", budget, {}, members)


def _beyond(live: LiveRun, t: int) -> bool:
    """Owners wait for nobody: while somebody is away, they may come to the end of their part."""
    return live.round > t or live.state != RUNNING


def assert_right(made: Federation, world: SplitWorld, run: str, budget: int) -> None:
    arms, total = world.expected()
    journals = Journals(made)
    assert journals.trajectory(run, budget) == arms
    assert journals.total(run) == total
    assert journals.finished(run)


def test_the_receiver_starts_a_run_and_learns_the_total(tmp_path: Path) -> None:
    async def scenario() -> None:
        made, world = federation(tmp_path / "f", 12)
        async with make_group(made) as group:
            run = group.order("receiver", order(made, 12))
            for name in SEATED:
                await group.state(name, run, FINISHED)
            assert_right(made, world, run, 12)
            assert group.nodes["owner-2"].resources.contribution.features == ARMS - 1
            assert group.nodes["actor"].resources.contribution.arms == ARMS
            assert group.nodes["actor"].journal.pulled(run) == (12, None)

    asyncio.run(scenario())


def test_each_party_may_come_and_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        made, world = federation(tmp_path / "f", 600)
        async with make_group(made) as group:
            run = group.order("receiver", order(made, 600))
            for name in reversed(SEATED):  # owners first, before they are far ahead
                live = await group.live(name, run)
                await until(partial(_beyond, live, live.round + 10))
                await group.down(name)
                await group.up(name)
            await group.state("receiver", run, FINISHED)
            assert_right(made, world, run, 600)

    asyncio.run(scenario())


def test_who_lacks_its_function_refuses(tmp_path: Path) -> None:
    async def scenario() -> None:
        made, _ = federation(tmp_path / "f", 3)
        (made.kits["actor"] / "other.py").write_text("def pull(decision): return 1.0")
        set_owner(made, "actor", OwnerTable(pull="other:pull"))
        async with make_group(made) as group:
            run = group.order("receiver", order(made, 3))
            live = await group.state("receiver", run, REFUSED)
            assert "actor: actor has no function that carries out decisions" in live.note

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("name", "text", "table", "verdict"),
    [
        (
            "actor",
            "def act(decision): 1 / 0",
            OwnerTable(act="faulty:act", arms=ARMS),
            partial(Resolve, lost=True),
        ),
        (
            "owner-1",
            "def features(decision): 1 / 0",
            OwnerTable(features="faulty:features", dimensions=1),
            partial(Resolve, features=(0.25,)),
        ),
        (
            "receiver",
            "def pull(decision): 1 / 0",
            OwnerTable(pull="faulty:pull"),
            partial(Resolve, reward=0.5),
        ),
    ],
)
def test_a_person_resolves_what_is_in_doubt(
    tmp_path: Path, name: str, text: str, table: OwnerTable, verdict: Callable[[str], Resolve]
) -> None:
    async def scenario() -> None:
        made, _ = federation(tmp_path / "f", 1)
        (made.kits[name] / "faulty.py").write_text(text)
        set_owner(made, name, table)
        # Nobody waits for an act that is never made.
        (made.kits["receiver"] / "register.py").write_text("def pull(decision): return 0.5")
        async with make_group(made) as group:
            run = group.order("receiver", order(made, 1))
            live = await group.live(name, run)
            await until(lambda: "in doubt" in live.note)
            group.tell(name, run, verdict(f"{run}/1"))
            for seat in SEATED:
                await group.state(seat, run, FINISHED)
            assert group.nodes["receiver"].journal.output(run) == 0.5

    asyncio.run(scenario())

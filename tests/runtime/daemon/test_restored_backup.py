"""A journal that was put back from a backup, or lost, is refused on both sides, never replayed."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from lotor.core.errors import JournalError, JournalWriteError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.serving import open_kit, serve
from lotor.runtime.daemon.status import BLOCKED
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.journal import RUNNING, STOPPED
from runtime.daemon.stage import BUDGET, Stage, stage
from runtime.daemon.waiting import until

SEEN_NEWER = "has seen this party's journal at write"
CAME_BACK = "comes back with a journal at write"


def state(made: Stage, name: str) -> Path:
    return made.kit(name) / "state"


def put(made: Stage, name: str, copy: Path | None) -> None:
    """Put a copy of its state in place of what a party has; None: it has lost everything."""
    shutil.rmtree(state(made, name))
    if copy is not None:
        shutil.copytree(copy, state(made, name))


async def copied(made: Stage, name: str, to: Path) -> Path:
    """Stop a party, and copy its state."""
    await made.stop(name)
    return shutil.copytree(state(made, name), to)


def says_blocked(made: Stage, run: str, name: str) -> bool:
    own = made.live(name, run).statuses.own
    return own is not None and own.state == BLOCKED


async def blocked(made: Stage, run: str, name: str, peers: tuple[str, ...]) -> None:
    """Both sides say so, by name, and nothing moves."""
    await until(lambda: run in made.nodes[name].runs)
    for here in (name, *peers):
        await until(partial(says_blocked, made, run, here))
    assert SEEN_NEWER in made.live(name, run).note
    for peer in peers:
        note = made.live(peer, run).note
        assert f"{name} {CAME_BACK}" in note
        assert "must put back the newest one" in note
        assert not made.host(peer, run).links[name].joined


# The customer hears nothing of Controller's between the copies, so it cannot tell them apart.
CASES = {
    "an owner's backup": ("lyon", True, ("controller",)),
    "an owner's loss": ("lyon", False, ("controller",)),
    "Controller's backup": ("controller", True, ("comp", "lyon", "porto")),
    "Controller's loss": ("controller", False, ("comp", "customer", "lyon", "porto")),
}


@pytest.mark.parametrize("repeatable", [True, False], ids=["repeatable", "once"])
@pytest.mark.parametrize("case", CASES)
def test_an_old_journal_is_refused_and_the_newest_goes_on(
    case: str, repeatable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 2)
    name, backup, peers = CASES[case]

    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            await made.configure_owners(repeatable=repeatable)
            made.hold(after=8)
            run = await made.order()
            await made.held(run, after=8)
            old = await copied(made, name, tmp_path / "old")
            await made.start(name)
            made.hold(after=15)
            await made.held(run, after=15)
            newest = await copied(made, name, tmp_path / "newest")
            calls = made.calls("lyon"), made.calls("porto")
            put(made, name, old if backup else None)
            # To start it again and again does not help: it writes each time, and never catches up.
            for _ in range(6 if repeatable else 2):
                await made.start(name)
                await blocked(made, run, name, peers)
                await made.stop(name)
            assert (made.calls("lyon"), made.calls("porto")) == calls
            put(made, name, newest)
            await made.start(name)
            made.release()
            await made.finishes(run)
            assert len(made.calls("lyon") + made.calls("porto")) == BUDGET

    asyncio.run(scene())


def test_the_run_can_be_stopped_when_the_newest_is_gone_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 2)

    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            made.hold()
            run = await made.order()
            await made.held(run)
            await made.stop("lyon")
            put(made, "lyon", None)
            await made.start("lyon")
            await blocked(made, run, "lyon", ("controller",))
            made.ask("lyon", run, commands.Stop("our disk is broken"))
            states = await made.ended(run)
            assert set(states.values()) == {(STOPPED, "stopped by lyon: our disk is broken")}
            made.release()
            await made.works()

    asyncio.run(scene())


def test_a_disk_that_cannot_be_written_ends_the_party_which_goes_on_later(tmp_path: Path) -> None:
    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            made.hold()
            run = await made.order()
            await made.held(run)
            node = made.nodes["lyon"]
            node.journal.database.execute("PRAGMA query_only = ON")
            made.release()
            await until(node.ended.is_set)
            assert isinstance(node.error, JournalWriteError)
            assert "nothing of this step was done" in str(node.error)
            await made.stop("lyon")
            await made.start("lyon")
            await made.finishes(run)

    asyncio.run(scene())


def test_two_processes_cannot_serve_one_party(tmp_path: Path) -> None:
    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            with (
                open_kit(made.kit("lyon")) as at,
                pytest.raises(JournalError, match="another process"),
            ):
                await serve(at, asyncio.Event())
            await made.works()

    asyncio.run(scene())


def test_one_run_that_cannot_be_restored_does_not_keep_others_from_going_on(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with stage(tmp_path / "federation") as made:
            made.hold()
            run = await made.order()
            await made.held(run)
            await made.stop("lyon")
            with closing(sqlite3.connect(state(made, "lyon") / "journal.db")) as database, database:
                database.execute("UPDATE progress SET snapshot = x'00'")
            await made.start("lyon")
            assert made.logged("cannot go on: this is not a snapshot")
            made.release()
            await made.works()
            assert made.live("controller", run).state == RUNNING

    asyncio.run(scene())

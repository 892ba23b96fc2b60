"""A journal that was put back from a backup, or lost, is refused on both sides, never replayed."""

import asyncio
import shutil
from functools import partial
from pathlib import Path

import pytest

from lotor.runtime.daemon import commands
from lotor.runtime.daemon.status import BLOCKED
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.journal import STOPPED
from runtime.daemon.hostile import BUDGET, Stage, stage, until

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
    own = made.live(name, run).bulletin.own
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
            for _ in range(6):  # to start it again and again does not help
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

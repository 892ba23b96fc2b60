"""Over HTTP as on the command line: the same runs, the same decisions, the same words."""

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from commands import lotor as command
from lotor.core.errors import InputError
from lotor.runtime.daemon import commands
from lotor.runtime.durable.journal import REFUSED, RUNNING, WAITING
from runtime.daemon.local.test_metrics import be_open, client
from runtime.daemon.stage import BUDGET, EVERYONE, NOBODY, Stage, play
from runtime.daemon.test_who_waits import be_strict
from runtime.daemon.waiting import until


async def get(made: Stage, name: str, path: str) -> Any:
    return await asyncio.to_thread(client(made.nodes[name]).get, path)


async def post(made: Stage, name: str, path: str, **fields: object) -> Any:
    return await asyncio.to_thread(client(made.nodes[name]).post, path, **fields)


def on_the_command_line(made: Stage, name: str, *arguments: str) -> Any:
    done = command("runs", *arguments, "--json", "--kit", str(made.kit(name)))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def same(made: Stage, name: str, path: str, *arguments: str) -> Any:
    """What both show of a run, as soon as no news comes between them."""
    async with asyncio.timeout(90):
        while (shown := await get(made, name, path)) != on_the_command_line(made, name, *arguments):
            await asyncio.sleep(0.01)
    return shown


async def waiting(made: Stage) -> str:
    """A run that waits for the approval of lyon, and all have heard of that."""
    run = await made.order()
    await until(lambda: run in made.nodes["lyon"].runs)
    assert made.live("lyon", run).state == WAITING
    return run


def test_it_shows_and_does_what_the_command_line_does(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_strict(made, "lyon")
        be_open(made, "lyon", "customer")
        await made.start(*EVERYONE)
        first, second = await waiting(made), await waiting(made)
        shown = await same(made, "lyon", f"/v1/runs/{first[:12]}", "show", first)
        assert shown["leakage"]
        assert len(await same(made, "lyon", "/v1/runs", "list")) == 2
        refused = await post(made, "lyon", f"/v1/runs/{second}/refuse", reason="not now")
        assert refused == {"run": second, "done": f"run {second} is refused"}
        assert made.live("lyon", second).state == REFUSED
        told = (await made.ended(second))["customer"]
        assert told == (REFUSED, "refused by lyon: not now")
        done = await post(made, "lyon", f"/v1/runs/{first}/approve")
        assert done["done"] == f"run {first} is approved and starts"
        assert made.live("lyon", first).state != WAITING
        again = command("runs", "approve", first, "--kit", str(made.kit("lyon"))).stderr
        with pytest.raises(InputError) as error:
            await post(made, "lyon", f"/v1/runs/{first}/approve")
        assert str(error.value).partition(": ")[2].startswith(f"run {first} is ")
        assert "only a waiting run can be approved" in str(error.value)
        assert "only a waiting run can be approved" in again
        await made.finishes(first)
        shown = await same(made, "customer", f"/v1/runs/{first}", "show", first)
        assert shown["reward"] == made.nodes["customer"].journal.output(first)

    play(scene, tmp_path, *NOBODY)


def test_an_order_is_listed_and_taken_back_and_a_run_stopped(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_open(made, "customer", "porto")
        await made.start(*EVERYONE)
        order = secrets.token_hex(16)
        members = {"controller": ["controller"], "comp": ["comp"], "owner": ["lyon", "nobody"]}
        made.ask("customer", order, commands.StartRun("samba", BUDGET, {"policy": "ucb"}, members))
        journal = made.nodes["customer"].journal
        await until(lambda: "nobody" in journal.commands.sought(order))
        shown = await get(made, "customer", f"/v1/runs/{order[:10]}")
        assert (shown["state"], shown["served"]) == ("ordered", True)
        back = await post(made, "customer", f"/v1/runs/{order}/stop")
        assert back["done"] == f"the order of run {order} is taken back"
        assert await get(made, "customer", "/v1/runs") == []
        made.hold()
        run = await made.order()
        await made.held(run)
        assert made.live("porto", run).state == RUNNING
        await post(made, "porto", f"/v1/runs/{run}/stop", reason="power cut")
        assert made.live("porto", run).note == "stopped by porto: power cut"
        assert (await made.ended(run))["customer"][1] == "stopped by porto: power cut"

    play(scene, tmp_path, *NOBODY)


def test_a_decision_in_doubt_is_resolved_at_once(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_open(made, "porto")
        await made.start(*EVERYONE)
        await made.configure_owners(repeatable=False)
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("porto")
        await made.start("porto")
        live = made.live("porto", run)
        await until(lambda: "in doubt" in live.note)
        shown = await get(made, "porto", f"/v1/runs/{run}")
        decision = decision_of(shown)
        made.release()
        done = await post(made, "porto", f"/v1/runs/{run}/resolve", decision=decision, again=True)
        assert done["done"] == f"decision {decision} is resolved"
        assert "in doubt" not in live.note
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def decision_of(shown: dict[str, Any]) -> str:
    """The decision that a note names."""
    return str(shown["note"]).partition("whether decision ")[2].partition(" ")[0]

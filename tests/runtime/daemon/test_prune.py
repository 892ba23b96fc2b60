"""Runs are pruned from the command line and over HTTP, with and without a daemon, for good."""

import asyncio
import json
import secrets
import sys
import time
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from commands import lotor as command
from lotor.core.errors import InputError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.frames import Open
from lotor.runtime.daemon.status import BLOCKED
from lotor.runtime.durable.journal import FINISHED, RUNNING, STOPPED
from runtime.daemon.local.test_interface import get, post
from runtime.daemon.local.test_metrics import be_open
from runtime.daemon.stage import EVERYONE, NOBODY, Stage, play
from runtime.daemon.waiting import until
from scanning import contents


@pytest.fixture(autouse=True)
def _nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO())


def prune(made: Stage, name: str, *arguments: str) -> "CompletedProcess[str]":
    return command("runs", "prune", *arguments, "--kit", str(made.kit(name)))


def traces(made: Stage, name: str, run: str) -> list[str]:
    """The files of a party that hold anything of a run but its id."""
    telling = f"{run}/0/1".encode()
    found = contents(made.kit(name) / "state")
    return [place for place, data in found.items() if telling in data]


def test_on_the_command_line_without_a_daemon(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        run = await made.order()
        await made.finishes(run)
        spent = made.nodes["lyon"].journal.ledger.spent()
        await made.stop(*EVERYONE)
        assert traces(made, "lyon", run)
        asked = prune(made, "lyon", run[:8])
        assert asked.returncode == 2
        assert "nothing was removed, because nobody said yes" in asked.stderr
        for arguments in (["--older-than", "90d"], [run]):
            shown = prune(made, "lyon", *arguments, "--dry-run", "--json")
            listed = [one["run"] for one in json.loads(shown.stdout)["pruned"]]
            assert listed == ([] if "90d" in arguments else [run])
            assert traces(made, "lyon", run)
        done = prune(made, "lyon", run[:8], "--yes")
        assert (done.returncode, done.stderr) == (0, "1 run removed\n")
        assert done.stdout.startswith(f"{run}\tfinished\t")
        assert not traces(made, "lyon", run)
        assert "no run here" in prune(made, "lyon", run, "--yes").stderr
        budget = command("budget", "--json", "--kit", str(made.kit("lyon")))
        assert run in budget.stdout
        await made.start(*EVERYONE)
        assert run not in made.nodes["lyon"].runs
        assert made.nodes["lyon"].journal.ledger.spent() == spent
        await made.works()

    play(scene, tmp_path)


def test_what_cannot_be_pruned_is_refused_in_the_same_words(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_open(made, "lyon")
        await made.start(*EVERYONE)
        made.hold()
        run = await made.order()
        await made.held(run)
        there = prune(made, "lyon", run, "--yes")
        assert (there.returncode, there.stdout) == (2, "")
        assert f"run {run} cannot be pruned, since it is running" in there.stderr
        with pytest.raises(InputError, match="since it is running"):
            await post(made, "lyon", "/v1/runs/prune", runs=[run])
        for wrong in ({}, {"runs": [run], "older_than": "1d"}, {"older_than": "soon"}):
            with pytest.raises(InputError, match="older_than"):
                await post(made, "lyon", "/v1/runs/prune", **wrong)
        assert made.live("lyon", run).state == RUNNING
        made.release()
        await made.finishes(run)

    play(scene, tmp_path, *NOBODY)


def test_a_daemon_prunes_what_it_is_asked_to_over_http_and_from_elsewhere(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_open(made, "lyon")
        await made.start(*EVERYONE)
        first, second = await made.order(), await made.order()
        await made.finishes(first)
        await made.finishes(second)
        await until(lambda: not made.nodes["lyon"].journal.unsettled())
        seen = await post(made, "lyon", "/v1/runs/prune", older_than="1s", dry_run=True)
        assert {one["run"] for one in seen["pruned"]} <= {first, second}
        report = await post(made, "lyon", "/v1/runs/prune", runs=[first])
        assert [one["run"] for one in report["pruned"]] == [first]
        assert not traces(made, "lyon", first)
        assert [one["run"] for one in await get(made, "lyon", "/v1/runs")] == [second]
        done = await asyncio.to_thread(prune, made, "lyon", second, "--yes")
        assert done.returncode == 0, done.stderr
        assert made.nodes["lyon"].runs == {}
        await until(lambda: not made.nodes["lyon"].journal.erasure.due)
        assert not traces(made, "lyon", second)
        await made.works()

    play(scene, tmp_path, *NOBODY)


def test_an_announcement_of_a_pruned_run_starts_nothing(tmp_path: Path) -> None:
    """Neither while the daemon runs nor after a restart; its sender is told, and not cut off."""

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        row = made.nodes["lyon"].journal.run(run)
        made.ask("customer", run, commands.Stop("enough"))
        await made.ended(run)
        made.release()
        calls = made.calls("lyon")
        made.ask("lyon", run, commands.Prune())
        await until(lambda: run not in made.nodes["lyon"].runs)
        for _ in range(2):
            controller, lyon = made.controller, made.nodes["lyon"]
            await until(lambda: "lyon" in controller.connections.names())  # noqa: B023
            known = controller.runs[run].statuses.known["lyon"]
            controller.connections.send("lyon", Open(run, row.announcement, row.signature))
            await until(
                lambda: controller.runs[run].statuses.known["lyon"].time > known.time  # noqa: B023
            )
            said = controller.runs[run].statuses.known["lyon"]
            assert (said.state, said.text) == (
                STOPPED,
                "lyon has pruned this run, which is stopped there",
            )
            assert run not in lyon.runs
            assert lyon.journal.find(run) is None
            await made.stop("lyon")
            await made.start("lyon")
        assert made.calls("lyon") == calls
        await made.works()

    play(scene, tmp_path)


def test_a_peer_that_has_not_heard_the_end_of_a_pruned_run_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    """It is told that nothing more comes, and its operator decides; nothing ends by itself."""

    async def scene(made: Stage) -> None:
        run = await made.order()
        await made.finishes(run)
        row = made.nodes["lyon"].journal.run(run)
        await until(lambda: not made.nodes["lyon"].journal.unsettled())
        made.ask("lyon", run, commands.Prune())
        await until(lambda: run not in made.nodes["lyon"].runs)
        made.controller.connections.send("lyon", Open(run, row.announcement, row.signature))
        known = made.controller.runs[run].statuses.known
        await until(lambda: known["lyon"].state == BLOCKED)
        assert "has pruned this run, which is finished there" in known["lyon"].text
        assert made.live("controller", run).state == FINISHED
        await made.works()

    play(scene, tmp_path)


def test_an_order_of_a_pruned_run_starts_nothing(tmp_path: Path) -> None:
    """A command that was carried out, and is found again, as after a crash."""

    async def scene(made: Stage) -> None:
        run = await made.order()
        await made.finishes(run)
        await until(lambda: not made.nodes["customer"].journal.unsettled())
        made.ask("customer", run, commands.Prune())
        await until(lambda: run not in made.nodes["customer"].runs)
        members = {"controller": ["controller"], "comp": ["comp"], "owner": ["lyon", "porto"]}
        made.ask("customer", run, commands.StartRun("samba", 9, {"policy": "ucb"}, members))
        other = secrets.token_hex(16)
        made.ask("customer", other, commands.Stop("so that we see that it has looked"))
        queue = made.nodes["customer"].journal.commands
        await until(lambda: not queue.waiting())
        assert run not in made.nodes["customer"].runs
        assert made.nodes["customer"].journal.find(run) is None

    play(scene, tmp_path)


def test_older_ones_go_and_younger_ones_stay(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        old, young = await made.order(), await made.order()
        await made.finishes(old)
        await made.finishes(young)
        journal = made.nodes["lyon"].journal
        await until(lambda: not journal.unsettled())
        long_ago = time.time() - 100 * 86400.0
        journal.database.execute("UPDATE runs SET changed = ? WHERE id = ?", (long_ago, old))
        await made.stop("lyon")
        done = prune(made, "lyon", "--older-than", "90d", "--yes", "--json")
        assert [one["run"] for one in json.loads(done.stdout)["pruned"]] == [old]
        await made.start("lyon")
        assert set(made.nodes["lyon"].runs) == {young}

    play(scene, tmp_path)

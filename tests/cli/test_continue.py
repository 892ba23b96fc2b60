"""`lotor start … --keep`, then `--continue`: the parties and the policy of before, unless told."""

import asyncio
import json
from pathlib import Path

import pytest

from commands import lotor as command
from runtime.daemon.continuing import FIRST, SECOND, Clinics, plain, play

pytestmark = pytest.mark.usefixtures("real_transfers")


@pytest.mark.long
def test_a_run_is_kept_shown_and_continued_by_commands(tmp_path: Path) -> None:
    one, two = plain((3, FIRST), (3, SECOND))

    async def scene(made: Clinics) -> None:
        await made.group.down("customer")
        kit = str(made.made.kits["customer"])

        async def start(*options: str, code: int = 0) -> str:
            words = ("start", "samba", "--kit", kit, *options)
            done = await asyncio.to_thread(command, *words)
            assert done.returncode == code, done.stdout + done.stderr
            return done.stdout if code == 0 else " ".join(done.stderr.split())

        options = ("--budget", str(FIRST), "--owners", "lyon,porto", "--keep", "--json")
        first = json.loads(await start(*options))
        assert first["reward"] == one.reward
        run = first["run"]
        # Neither its owners nor its policy need be named again.
        again = "--continue", run[:10], "--budget", str(SECOND)
        second = json.loads(await start(*again, "--json"))
        assert second["reward"] == two.reward
        assert second["continues"] == run

        why = await start(*again, "--policy", "softmax", code=2)
        assert "was one of ucb" in why
        why = await start(*again, "--form", "dealt", code=2)
        assert f"run {run} is one of samba in the form shared" in why
        why = await start("--continue", second["run"], "--budget", "9", code=2)
        assert "was started without keep" in why

        lyon = str(made.made.kits["lyon"])
        shown = " ".join(command("runs", "show", run[:10], "--kit", lyon).stdout.split())
        assert "keeps owner, after the run: how often each of its arms was pulled" in shown
        assert "bytes, sealed, since" in shown
        assert f"continued by {second['run']}" in shown
        later = " ".join(command("runs", "show", second["run"], "--kit", lyon).stdout.split())
        assert f"continues {run}" in later
        assert f"round {FIRST + SECOND} of {FIRST + SECOND}" in later
        listed = json.loads(command("runs", "list", "--kit", lyon, "--json").stdout)
        assert [("kept" in one) for one in listed] == [True, False]

    play(tmp_path, scene)

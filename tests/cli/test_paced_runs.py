"""What operators order about a run's rounds, and what they see of it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import lotor
from commands import lotor as command
from daemons import until
from lotor.sandbox import Federation
from runtime.daemon.on_demand import PacedRun

SEED, BUDGET = 7, 14


def federation(folder: Path) -> Federation:
    made = Federation.of(folder, lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    return made


class Operators:
    """The operators of a federation, each in a shell beside its daemon."""

    def __init__(self, run: PacedRun) -> None:
        self._run = run
        self._kits = run.made.kits

    def says(self, name: str, *order: str) -> str:
        """What a command that is carried out says."""
        action, *options = order
        done = command("runs", action, self._run.id, "--kit", str(self._kits[name]), *options)
        assert done.returncode == 0, done.stderr
        self._run.group.nodes[name].commands.look_again()
        return done.stdout + done.stderr

    def refused(self, name: str, *order: str) -> str:
        """Why a command is not carried out."""
        action, *options = order
        done = command("runs", action, self._run.id, "--kit", str(self._kits[name]), *options)
        assert done.returncode == 2, done.stdout + done.stderr
        return " ".join(done.stderr.split())

    def document(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self.says(name, "show", "--json")))


def test_operators_ask_for_rounds_pause_and_see_what_a_run_waits_for(tmp_path: Path) -> None:
    made = federation(tmp_path / "f")
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET)
            await run.waits_after(first)
            shell, customer = Operators(run), run.group.nodes["customer"].runs[run.id]
            await until(lambda: customer.note)
            seen = shell.document("customer")
            assert seen["pace"] == "on demand: each round waits for `lotor runs next`"
            assert (seen["granted"], seen["round"], seen["held_up"]) == (0, 0, [customer.note])
            assert customer.note == f"waits for `lotor runs next {run.id}`"
            assert "paused_since" not in seen
            assert " ".join(customer.note.split()) in " ".join(
                shell.says("customer", "show").split()
            )

            said = shell.says("customer", "next", "--count", "2")
            assert said == f"run {run.id}: 2 more rounds may begin, up to round {first + 2}\n"
            await run.waits_after(first + 2)
            found = json.loads(shell.says("customer", "next", "--json"))
            left = BUDGET - first - 3
            about = {"run": run.id, "granted": 3, "last_round": first + 3, "left": left}
            assert found == about
            await run.waits_after(first + 3)

            assert shell.says("lyon", "pause") == f"run {run.id} is paused\n"
            assert "is paused by you already" in shell.refused("lyon", "pause")
            await until(lambda: run.gates()["customer"].pausing)
            seen, own = shell.document("customer"), shell.document("lyon")
            assert any(one.startswith("lyon has paused the run, since ") for one in seen["held_up"])
            assert own["paused_since"]
            assert own["note"].startswith("paused by you since ")
            assert "paused by lyon, since " in " ".join(shell.says("customer", "show").split())
            assert "goes on" in shell.says("lyon", "resume")
            assert "is not paused by you" in shell.refused("lyon", "resume")

            assert "by the customer alone" in shell.refused("lyon", "next")
            too_many = shell.refused("customer", "next", "--count", str(left + 1))
            assert f"has {left} rounds left" in too_many
            assert "0 rounds cannot be asked for" in shell.refused(
                "customer", "next", "--count", "0"
            )
            shell.says("customer", "next", "--count", str(left))
            await run.finishes()
            for order in ("next", "pause", "resume"):
                assert f"run {run.id} is finished: " in shell.refused("customer", order)
        finally:
            await run.group.down()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--every", "10m", "--on-demand"], "give --every or --on-demand"),
        (["--every", "soon"], "give a length of time such as"),
        (["--every", "0.001s"], "cannot be kept"),
        (["--every", "2000d"], "cannot be kept"),
    ],
)
def test_a_pace_that_cannot_be_kept_is_refused_before_anything_else(
    options: list[str], why: str, tmp_path: Path
) -> None:
    done = command("start", "samba", "--budget", "10", "--kit", str(tmp_path), *options)
    assert done.returncode == 2
    assert why in " ".join(done.stderr.split())

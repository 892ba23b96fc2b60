"""What operators decide, and what others try to decide for them."""

import asyncio
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.journal import RUNNING, Journal
from runtime.daemon.hostile import MeddlingTransport
from runtime.daemon.stage import Stage, play
from runtime.daemon.waiting import until


@pytest.mark.parametrize("seat", ["porto", "controller"])
def test_nobody_ends_a_run_in_the_name_of_another(tmp_path: Path, seat: str) -> None:
    """Also not by a word that looks old, or that is about the receiver itself."""

    async def scene(made: Stage) -> None:
        made.hold()
        await made.start("lyon", transport=MeddlingTransport)
        run = await made.order()
        await made.held(run)
        forged = Status(run, seat, 0.0, "stopped", "stopped by porto:\nforged", 1, b"")
        made.nodes["lyon"].connections.send("controller", forged)
        await until(lambda: made.logged("is not valid"))
        assert made.live("controller", run).state == RUNNING
        made.release()
        await made.finishes(run)

    play(scene, tmp_path, "controller", "comp", "customer", "porto")


async def in_doubt(made: Stage) -> tuple[str, str]:
    """A run with a pull of porto's that was cut off; the run and the decision."""
    await made.configure_owners(repeatable=False)
    made.hold("porto", 8)
    run = await made.order()
    await made.held(run)
    await made.stop("porto")
    await made.start("porto")
    await until(lambda: "in doubt" in made.live("porto", run).note)
    return run, made.live("porto", run).note.split("runs resolve ")[1].split()[1]


def test_a_decision_given_while_the_daemon_is_down_counts(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        run, decision = await in_doubt(made)
        await made.stop("porto")
        made.release()
        kit = Kit(made.kit("porto"))
        with closing(Journal(kit.path / "state", str(kit.subject))) as journal:
            journal.commands.add(run, commands.to_bytes(commands.Resolve(decision, 1.0)))
        await made.start("porto")
        await until(made.live("porto", run).over.is_set)
        assert made.calls("porto").count(decision) <= 1

    play(scene, tmp_path)


def test_asked_again_once_however_often_an_operator_says_so(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        run, decision = await in_doubt(made)
        for _ in range(3):
            made.ask("porto", run, commands.Resolve(decision, None))
        await until(lambda: made.live("porto", run).busy)
        await until(lambda: not made.nodes["porto"].journal.commands.waiting())
        await made.stop("porto")
        await made.start("porto")
        await until(lambda: "in doubt" in made.live("porto", run).note)
        await asyncio.sleep(0.5)
        assert "in doubt" in made.live("porto", run).note

    play(scene, tmp_path)


@pytest.mark.parametrize("repeatable", [True, False])
def test_whether_pulls_repeat_is_fixed_when_a_run_begins(tmp_path: Path, repeatable: bool) -> None:
    async def scene(made: Stage) -> None:
        await made.configure_owners(repeatable=repeatable)
        made.hold("porto", 8)
        run = await made.order()
        await made.held(run)
        await made.stop("porto")
        path = made.kit("porto") / "party.toml"
        config = read_config(path)
        assert config.owner is not None
        owner = msgspec.structs.replace(config.owner, repeatable=not repeatable)
        write_config(path, msgspec.structs.replace(config, owner=owner))
        await made.start("porto")
        assert made.host("porto", run).repeatable == repeatable
        made.release()
        if repeatable:
            await made.finishes(run)
        else:
            await until(lambda: "in doubt" in made.live("porto", run).note)

    play(scene, tmp_path)


def test_a_budget_stays_spent_when_its_run_cannot_be_restored(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        run = await made.order()
        await made.finishes(run)
        journal = made.nodes["porto"].journal
        spent = journal.ledger.spent()
        assert spent.pulls == journal.run(run).budget > 0
        await made.stop("porto")
        kit = Kit(made.kit("porto"))
        with closing(Journal(kit.path / "state", str(kit.subject))) as old:
            old.database.execute("UPDATE runs SET announcement = x'00'")
        await made.start("porto")
        assert run not in made.nodes["porto"].runs
        assert made.nodes["porto"].journal.ledger.spent() == spent

    play(scene, tmp_path)

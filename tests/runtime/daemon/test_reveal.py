"""Daemons tell a customer more than the total only where every owner agrees to it."""

import json
import secrets
from pathlib import Path

import msgspec
import pytest

import lotor
from commands import lotor as command
from lotor.core.revealed import Revealed
from lotor.protocols.revealing import SENTENCES
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit, check_party_toml
from lotor.runtime.durable.journal import RUNNING, WAITING
from runtime.daemon.stage import BUDGET, EVERYONE, MEANS, NOBODY, SEED, Stage, play
from runtime.daemon.waiting import until

pytestmark = pytest.mark.usefixtures("real_transfers")


def plain(reveal: str) -> lotor.Result:
    samba = lotor.Samba(reveal=reveal)  # type: ignore[arg-type]
    arms = lotor.BernoulliArms(list(MEANS.values()))
    return lotor.run(samba.plain(), arms, budget=BUDGET, seed=SEED)


def allow(made: Stage, name: str, *reveal: str) -> None:
    path = made.kit(name) / "party.toml"
    config = read_config(path)
    assert config.consent is not None
    consent = msgspec.structs.replace(config.consent, reveal=reveal)
    write_config(path, msgspec.structs.replace(config, consent=consent))


async def order(made: Stage, reveal: str) -> str:
    run, members = secrets.token_hex(16), {"controller": ["controller"], "comp": ["comp"]}
    options: dict[str, str | int] = {"form": "shared", "reveal": reveal}
    wanted = commands.StartRun("samba", BUDGET, options, {**members, "owner": list(MEANS)})
    made.ask("customer", run, wanted)
    await until(lambda: run in made.nodes["customer"].runs)
    return run


def said(kit: Path, *arguments: str) -> str:
    done = command(*arguments, "--kit", str(kit))
    assert done.returncode == 0, done.stderr
    return done.stdout


async def goes_through(made: Stage, run: str, reveal: str) -> None:
    """The customer is told what plain tells, with its owners' names, and nobody else is."""
    await made.finishes(run)
    told = made.nodes["customer"].journal.all_output(run).revealed
    assert told is not None
    assert told.called(None) == plain(reveal).revealed
    assert told.names == ["lyon (arm 0)", "porto (arm 1)"]
    shown = json.loads(said(made.kit("customer"), "runs", "show", run[:8], "--json"))
    assert shown["revealed"] == msgspec.to_builtins(told)
    assert shown["reveals"] == {reveal: SENTENCES[reveal]}
    facts = " ".join(said(made.kit("customer"), "runs", "show", run[:8]).split())
    assert f" {told.title} {told.finding} " in facts
    for name in set(EVERYONE) - {"customer"}:
        assert made.nodes[name].journal.all_output(run).revealed is None
        assert "revealed" not in said(made.kit(name), "runs", "show", run[:8], "--json")


@pytest.mark.long
def test_a_run_waits_at_each_owner_that_has_not_agreed(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        allow(made, "lyon", "counts", "best")
        allow(made, "porto", "counts")
        await made.start(*EVERYONE)
        run = await order(made, "best")
        await until(lambda: run in made.nodes["porto"].runs and run in made.nodes["lyon"].runs)
        assert made.live("porto", run).state == WAITING
        assert made.live("porto", run).note == (
            "it tells 'customer' which arm has the best mean in the end, and 'best' is not among "
            "reveal (counts)"
        )
        assert made.live("lyon", run).state == RUNNING
        table = json.loads(said(made.kit("porto"), "runs", "show", run[:8], "--json"))
        findings = lotor.Samba.form_called("shared").findings(("best",))
        assert table["leakage"] == {role: one.measured for role, one in findings.items()}
        shown = " ".join(said(made.kit("porto"), "runs", "show", run[:8]).split())
        assert "reveals which arm has the best mean in the end" in shown
        assert "What each role learns in the form shared, as measured" in shown
        made.ask("porto", run, commands.Approve())
        await goes_through(made, run, "best")

    play(scene, tmp_path, *NOBODY)


@pytest.mark.long
def test_it_starts_unasked_where_all_owners_have_agreed(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        for name in ("controller", "comp"):  # which have no data of their own
            allow(made, name, "*")
        for name in MEANS:
            allow(made, name, "counts", "best")
        await made.start(*EVERYONE)
        for reveal in ("counts", "best"):
            await goes_through(made, await order(made, reveal), reveal)
        kits.extend(map(made.kit, ("customer", "lyon")))

    kits: list[Path] = []
    play(scene, tmp_path, *NOBODY)
    kit, owner = kits
    (*_, consent) = check_party_toml(ExaminedKit(owner))
    assert consent.found == "runs start unasked that tell who orders them more: counts, best"
    listed = json.loads(said(kit, "runs", "list", "--json"))
    best, counts = sorted(listed, key=lambda one: [*one["reveals"]])
    told = msgspec.convert(best["revealed"], Revealed)
    assert said(kit, "runs", "follow", best["run"]).splitlines()[1:] == [told.text]
    followed = json.loads(said(kit, "runs", "follow", counts["run"], "--json"))
    assert (followed["reward"], followed["revealed"]) == (counts["reward"], counts["revealed"])

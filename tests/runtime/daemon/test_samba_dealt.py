"""The dealt form's parties as daemons: the arms and the total of plain, whoever is restarted."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.samba.dealt.form import SambaDealt
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

BUDGET, SEED = 150, 7
NAMES = {"controller": "saturn", "comp": "mercury", "dealer": "vault", "customer": "register"}


def _went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


def test_daemons_of_any_names_equal_plain_though_each_is_restarted(tmp_path: Path) -> None:
    samba = lotor.Samba(lotor.Pursuit(), form="dealt")
    cast = SambaDealt().cast(samba, BUDGET, SEED, None)
    members = {NAMES.get(name, name): member for name, member in cast.members.items()}
    made = Federation(tmp_path / "f", SambaDealt(), replace(cast, members=members), SEED)
    made.prepare()
    plain = lotor.run(samba.plain(), cast.environment, budget=BUDGET, seed=SEED)

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {"samba": lotor.Samba})
        try:
            await group.up()
            listed = read_config(made.kits["register"] / "party.toml").members
            options: dict[str, str | int] = {"policy": "pursuit", "form": "dealt"}
            order = StartRun(
                "samba", BUDGET, options, {role: list(names) for role, names in listed.items()}
            )
            run = group.order("register", order)
            midway = 0
            for name in made.members:
                live = await group.live(name, run)
                if name != "register":  # which counts no rounds
                    await until(partial(_went_on, live, live.round))
                midway += live.state == RUNNING
                await group.down(name)
                await group.up(name)
            live = await group.live("register", run)
            await until(lambda: live.state != RUNNING, seconds=120)
            assert (live.state, live.note) == (FINISHED, "")
            assert midway > 3
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == plain.arms
    assert journals.total(run) == plain.reward

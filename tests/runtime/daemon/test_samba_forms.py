"""SAMBA's forms as daemons: the arms and the total of plain, whoever comes and goes."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.cast import Cast, CastMember
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

MEANS = {"lyon": 0.3, "porto": 0.5, "graz": 0.7}
SEED = 7
# All arms pay by their number and the round.
CLINIC = """
def pull(decision):
    return ((decision.arm * 7919 + decision.round * 104729) % 1000) / 1000
"""


def _went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


def played(
    made: Federation, form: str, budget: int, *, restart: bool, seconds: float = 90.0
) -> tuple[list[int] | None, float | None]:
    """The arms and the total of one run."""

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {"samba": lotor.Samba})
        try:
            await group.up()
            listed = read_config(made.kits["customer"] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            run = group.order("customer", StartRun("samba", budget, {"form": form}, members))
            for name in made.members if restart else ():
                live = await group.live(name, run)
                await until(partial(_went_on, live, live.round))
                await group.down(name)
                await group.up(name)
            live = await group.live("customer", run)
            await until(lambda: live.state != RUNNING, seconds=seconds)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    journals = Journals(made)
    return journals.trajectory(run, budget), journals.total(run)


def cast_of(form: str, means: dict[str, float], budget: int) -> Cast:
    roles = lotor.Samba.form_called(form).roles
    servers = [role.name for role in roles if role.seats]
    return hospitals(means, budget=budget, seed=SEED, policy="ucb", servers=servers)


@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_daemons_equal_plain_though_each_is_restarted(form: str, tmp_path: Path) -> None:
    budget, cast = 40, cast_of(form, MEANS, 40)
    made = Federation(tmp_path / "f", lotor.Samba.form_called(form), cast, SEED)
    made.prepare()
    plain = lotor.run(lotor.UCB(), cast.environment, budget=budget, seed=SEED)
    assert played(made, form, budget, restart=True) == (plain.arms, plain.reward)


@pytest.mark.long
@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_a_thousand_arms(form: str, tmp_path: Path) -> None:
    """Circuits and shares of so many arms are cut to frames."""
    held, budget = 500, 1_006
    cast = cast_of(form, {"lyon": 0.5, "porto": 0.5}, 1)
    clinic = CastMember(
        "owner",
        table={"pull": "clinic:pull", "repeatable": True, "arms": held},
        files={"clinic.py": CLINIC},
        draws=True,
    )
    members = {**cast.members, "lyon": clinic, "porto": clinic}
    made = Federation(
        tmp_path / "f", lotor.Samba.form_called(form), replace(cast, members=members), SEED
    )
    made.prepare()

    def pull(decision: lotor.Decision) -> float:
        return ((decision.arm * 7919 + decision.round * 104729) % 1000) / 1000

    plain = lotor.run(lotor.UCB(), lotor.CallbackArms([pull] * 1000), budget=budget, seed=SEED)
    arms, total = played(made, form, budget, restart=False, seconds=300)
    assert (arms, total) == (plain.arms, plain.reward)

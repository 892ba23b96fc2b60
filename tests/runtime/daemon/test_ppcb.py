"""PPCB's parties as daemons: the arms and the total of plain, whoever comes and goes."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.cast import Cast
from lotor.protocols.ppcb.dealt.form import PPCBDealt
from lotor.protocols.ppcb.demo import feature_parties
from lotor.protocols.ppcb.form import PPCBForm
from lotor.protocols.ppcb.shared.form import PPCBShared
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

BUDGET, SEED, FEATURES = 24, 7, {"lyon": 2, "porto": 3}
MANY = {"lyon": 40, "porto": 60}
NAMES = {
    "server-0": "saturn",
    "server-1": "mercury",
    "dealer": "vault",
    "actor": "ward",
    "receiver": "register",
}


def renamed(cast: Cast) -> Cast:
    """The same parties under names that are not those of their seats."""
    members = {NAMES.get(name, name): member for name, member in cast.members.items()}
    return replace(cast, members=members, pullers=(NAMES["actor"],))


def _went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


@pytest.mark.parametrize(
    ("form", "helpers", "features"),
    [
        pytest.param(PPCBShared(), (), FEATURES, id="shared"),
        # A batch has one step, and 13 MB are made ahead for it.
        pytest.param(PPCBShared(), (), MANY, id="many features", marks=pytest.mark.long),
        pytest.param(PPCBDealt(), ("dealer",), FEATURES, id="dealt", marks=pytest.mark.long),
    ],
)
def test_daemons_of_any_names_equal_plain_though_each_is_restarted(
    tmp_path: Path, form: PPCBForm, helpers: tuple[str, ...], features: dict[str, int]
) -> None:
    draw = np.random.default_rng(1)
    contexts = draw.normal(size=(BUDGET, sum(features.values())))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    rewards = (draw.random((BUDGET, 4)) < 0.5).astype(float)
    arms = lotor.ContextualArms(contexts, rewards)
    plain = lotor.run(lotor.LinearEpsilonGreedy(epsilon=0.1), arms, budget=BUDGET, seed=SEED)
    cast = renamed(feature_parties(arms, features, helpers=helpers))
    made = Federation(tmp_path / "f", form, cast, SEED)
    made.prepare()

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {"ppcb": lotor.PPCB})
        try:
            await group.up()
            listed = read_config(made.kits["register"] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            run = group.order("register", StartRun("ppcb", BUDGET, {"form": form.name}, members))
            for name in made.members:
                live = await group.live(name, run)
                await until(partial(_went_on, live, live.round))
                await group.down(name)
                await group.up(name)
            live = await group.live("register", run)
            await until(lambda: live.state != RUNNING, seconds=120)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == plain.arms
    assert journals.total(run) == plain.reward

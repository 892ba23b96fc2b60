"""PPCB's parties as daemons: the arms and the total of plain, whoever comes and goes."""

import asyncio
from functools import partial
from pathlib import Path

import numpy as np
from lotor.protocols.ppcb.deployment import PPCBDeployment
from lotor.runtime.daemon.loopback_contextual import ContextualLoopback
from lotor.runtime.daemon.loopback_journals import Journals

import lotor
from daemons import LoopbackDaemons, until
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING

BUDGET, SEED, DIMENSIONS = 24, 7, (2, 3)


def _went_on(live: LiveRun, t: int) -> bool:
    return live.round > t or live.state != RUNNING


def test_daemons_equal_plain_though_each_is_restarted(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    contexts = draw.normal(size=(BUDGET, sum(DIMENSIONS)))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    rewards = (draw.random((BUDGET, 4)) < 0.5).astype(float)
    plain = lotor.run(
        lotor.LinearEpsilonGreedy(epsilon=0.1),
        lotor.ContextualArms(contexts, rewards),
        budget=BUDGET,
        seed=SEED,
    )
    made = ContextualLoopback.of(
        tmp_path / "f", contexts.tolist(), rewards.tolist(), dimensions=DIMENSIONS, seed=SEED
    )
    made.prepare()

    async def scenario() -> str:
        group = LoopbackDaemons.of(made, {"ppcb": PPCBDeployment()})
        try:
            await group.up()
            listed = read_config(made.kits["receiver"] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            run = group.order("receiver", StartRun("ppcb", BUDGET, {}, members))
            for name in made.members:
                live = await group.live(name, run)
                await until(partial(_went_on, live, live.round))
                await group.down(name)
                await group.up(name)
            live = await group.live("receiver", run)
            await until(lambda: live.state != RUNNING, seconds=120)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    journals = Journals(made)
    assert journals.trajectory(run, BUDGET) == plain.arms
    assert journals.total(run) == plain.reward

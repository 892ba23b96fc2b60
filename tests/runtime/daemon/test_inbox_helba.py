"""HELBA's user with an inbox: its pads count updates, so the run waits for each outcome."""

import asyncio
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import SandboxDaemons
from lotor.protocols.helba.demo import one_user
from lotor.runtime.daemon import node as node_module
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

pytestmark = pytest.mark.usefixtures("real_transfers")
BUDGET, SEED = 12, 7


@pytest.mark.long
def test_one_decision_at_a_time_waits_for_its_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "LOOK_SECONDS", 0.01)
    arms = lotor.LinearContexts.random(BUDGET, arms=3, d=2, seed=5)
    plain = lotor.run(lotor.Helba().plain(), arms, budget=BUDGET, seed=SEED)
    form = lotor.Helba.form_called("shared")
    made = Federation(tmp_path / "f", form, one_user(arms, seed=SEED), SEED)
    made.prepare()
    kit = made.kits[made.opener]
    config = read_config(kit / "party.toml")
    assert config.owner is not None
    inbox = msgspec.structs.replace(config.owner, inbox=True, pull=None, repeatable=False)
    write_config(kit / "party.toml", msgspec.structs.replace(config, owner=inbox))
    pull, chosen = arms.start(SEED), dict[int, int]()

    def look() -> None:
        with closing(lotor.Inbox(kit)) as inbox:
            waiting = inbox.take(BUDGET)
            assert len(waiting) <= 1
            for one in waiting:
                assert one.arm is not None
                chosen[one.round] = one.arm
                reward = pull(lotor.Decision(one.run, one.round, one.arm, one.id))
                inbox.tell(one.id, float(reward))

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {"helba": lotor.Helba})
        try:
            await group.up()
            members = {role: list(names) for role, names in config.members.items()}
            run = group.order(made.opener, StartRun("helba", BUDGET, {}, members))
            live = await group.live(made.opener, run)
            while live.state == RUNNING:
                look()
                await asyncio.sleep(0.005)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    assert [chosen[t] for t in range(1, BUDGET + 1)] == plain.arms
    assert Journals(made).total(run) == plain.reward

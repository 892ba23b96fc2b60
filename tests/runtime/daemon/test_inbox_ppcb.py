"""PPCB's actor and receiver with inboxes: who carries arms out, and who knows what they paid."""

import asyncio
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

import lotor
from daemons import SandboxDaemons
from lotor.protocols.ppcb.demo import feature_parties
from lotor.protocols.ppcb.shared.form import PPCBShared
from lotor.runtime.daemon import node as node_module
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import OwnerTable, read_config, write_config
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

BUDGET, SEED, DELAY, FEATURES = 12, 7, 3, {"lyon": 2, "porto": 3}


@pytest.mark.long
def test_an_inbox_shows_arms_to_one_and_takes_rewards_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "LOOK_SECONDS", 0.01)
    draw = np.random.default_rng(1)
    contexts = draw.normal(size=(BUDGET, sum(FEATURES.values())))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    rewards = (draw.random((BUDGET, 4)) < 0.5).astype(float)
    arms = lotor.ContextualArms(contexts, rewards)
    ppcb = lotor.PPCB(epsilon=0.1, delay=DELAY)
    plain = lotor.run(ppcb.plain(), arms, budget=BUDGET, seed=SEED)
    made = Federation(tmp_path / "f", PPCBShared(), feature_parties(arms, FEATURES), SEED)
    made.prepare()
    for name, table in (("actor", OwnerTable(inbox=True, arms=4)), ("receiver", INBOX)):
        path = made.kits[name] / "party.toml"
        write_config(path, msgspec.structs.replace(read_config(path), owner=table))
    chosen: dict[str, int] = {}

    def look() -> None:
        """The actor's clerk takes each arm once; the receiver's tells its reward early or late."""
        with closing(lotor.Inbox(made.kits["actor"])) as inbox:
            for one in inbox.take(BUDGET):
                assert one.arm is not None
                chosen[one.id] = one.arm
        with closing(lotor.Inbox(made.kits["receiver"])) as inbox:
            known = [one for one in inbox.waiting() if one.id in chosen]
            assert all(one.arm is None for one in known)
            for one in reversed(known):
                inbox.tell(one.id, float(rewards[one.round - 1, chosen[one.id]]))

    async def scenario() -> str:
        group = SandboxDaemons.of(made, {"ppcb": lotor.PPCB})
        try:
            await group.up()
            listed = read_config(made.kits["receiver"] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            options: dict[str, str | int] = {"delay": DELAY, "policy": "linear-epsilon-greedy"}
            run = group.order("receiver", StartRun("ppcb", BUDGET, options, members))
            live = await group.live("receiver", run)
            while live.state == RUNNING:
                look()
                await asyncio.sleep(0.01)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    assert len(chosen) == BUDGET
    arms_by_round = {int(name.rsplit("/", 1)[1]): arm for name, arm in chosen.items()}
    assert [arms_by_round[t] for t in range(1, BUDGET + 1)] == plain.arms
    assert Journals(made).total(run) == plain.reward


INBOX = OwnerTable(inbox=True)

"""LinUCB-DS with live rewards as daemons: functions, people with an inbox, and restarts."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.core.effects import Decision
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from runtime.daemon.forms import played

SEED = 7
KINDS = [
    lotor.LinUCBDS(form="paper-live", key_bits=2048),
    pytest.param(lotor.SpectralUCBDS(form="paper-live", key_bits=2048), marks=pytest.mark.long),
]


def federation(folder: Path, protocol: SecureProtocol, budget: int) -> Federation:
    return Federation.of(folder, protocol, budget=budget, seed=SEED)


@pytest.mark.parametrize("protocol", KINDS)
def test_daemons_equal_plain_though_each_is_restarted(
    protocol: SecureProtocol, tmp_path: Path
) -> None:
    made = federation(tmp_path, protocol, 16)
    made.prepare()
    plain = lotor.run(protocol.plain(), made.cast.environment, budget=16, seed=SEED)
    options = {"key_bits": 2048}
    found = played(made, type(protocol), "paper-live", 16, restart=True, options=options)
    assert found == (plain.arms, plain.reward)


def told(made: Federation) -> int:
    """A clerk tells what each open decision has paid; how many there were."""
    pull = made.cast.environment.start(SEED)
    with lotor.Inbox(made.kits["owner"]) as inbox:
        waiting = list(inbox.waiting())
        for one in waiting:
            assert one.arm is not None
            reward = pull(Decision.named(one.run, one.round, one.arm))
            assert isinstance(reward, float)
            inbox.tell(one.id, reward)
    return len(waiting)


@pytest.mark.long
def test_an_owner_with_an_inbox_has_one_open_decision_at_a_time(tmp_path: Path) -> None:
    protocol, budget = lotor.LinUCBDS(form="paper-live", key_bits=2048), 8
    made = federation(tmp_path, protocol, budget)
    made.changes = {"inbox": True, "pull": None, "repeatable": False}
    made.prepare()
    plain = lotor.run(protocol.plain(), made.cast.environment, budget=budget, seed=SEED)

    async def scenario() -> tuple[str, list[int]]:
        group = SandboxDaemons.of(made, {protocol.name: type(protocol)})
        open_at_once: list[int] = []

        def over(live: LiveRun) -> bool:
            if count := told(made):
                open_at_once.append(count)
            return live.state != RUNNING

        try:
            await group.up()
            listed = read_config(made.kits[made.opener] / "party.toml").members
            members = {role: list(names) for role, names in listed.items()}
            options: dict[str, str | int] = {"form": "paper-live", "key_bits": 2048}
            order = StartRun(protocol.name, budget, options, members)
            run = group.order(made.opener, order)
            live = await group.live(made.opener, run)
            await until(partial(over, live), seconds=90)
            assert (live.state, live.note) == (FINISHED, "")
            return run, open_at_once
        finally:
            await group.down()

    run, open_at_once = asyncio.run(scenario())
    assert open_at_once == [1] * budget
    journals = Journals(made)
    assert (journals.trajectory(run, budget), journals.total(run)) == (plain.arms, plain.reward)

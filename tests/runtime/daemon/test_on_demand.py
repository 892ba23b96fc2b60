"""Runs that have their rounds on demand: none begins unasked, and each one asked for comes to its end."""

import asyncio
from pathlib import Path

import pytest

import lotor
from daemons import SandboxDaemons, until
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import NextRounds, StartRun
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.durable.journal import FINISHED, RUNNING
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

SEED, BUDGET = 7, 14
PROTOCOLS = {
    "samba shared": lotor.Samba(),
    "samba dealt": lotor.Samba(form="dealt"),
    "linucb-ds shared": lotor.LinUCBDS(),
    "linucb-ds dealt": lotor.LinUCBDS(form="dealt"),
    "helba shared": lotor.Helba(),
    "helba two-servers": lotor.Helba(form="two-servers", servers=2),
    "ppcb dealt": lotor.PPCB(),
}


class Watched(SandboxDaemons):
    """A federation's daemons, and how far a run is."""

    def order_on_demand(self, made: Federation, protocol: SecureProtocol, pace: Pace) -> str:
        listed = read_config(made.kits[made.opener] / "party.toml").members
        members = {role: list(names) for role, names in listed.items()}
        options: dict[str, str | int] = {**protocol.order_options()}
        return self.order(
            made.opener, StartRun(protocol.name, BUDGET, options, members, pace)
        )

    def held(self, run: str) -> int:
        """The first round that waits somewhere."""
        gates = [node.runs[run].pacing.gate for node in self.nodes.values() if run in node.runs]
        return min((gate.held for gate in gates if gate.held), default=0)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
def test_no_round_begins_unasked_and_those_that_do_come_to_their_end(
    protocol: SecureProtocol, tmp_path: Path
) -> None:
    made = Federation.of(tmp_path / "f", protocol, budget=BUDGET, seed=SEED)
    made.prepare()
    journals = Journals(made)

    async def scenario() -> str:
        group = Watched.of(made, {protocol.name: type(protocol)})
        try:
            await group.up()
            run = group.order_on_demand(made, protocol, Pace(on_demand=True))
            live = await group.live(made.opener, run)
            done = live.agreement.plan.first_rounds
            for count in (0, 1, 3):
                group.tell(made.opener, run, NextRounds(count))
                done += count
                await until(lambda d=done: group.held(run) == d + 1)
                await until(lambda d=done: journals.round(run) == d)
            for name in made.members:
                await group.down(name)
                await group.up(name)
            await until(lambda: group.held(run) == done + 1)
            assert journals.round(run) == done
            group.tell(made.opener, run, NextRounds(BUDGET))
            live = await group.live(made.opener, run)
            await until(lambda: live.state != RUNNING)
            assert (live.state, live.note) == (FINISHED, "")
            return run
        finally:
            await group.down()

    run = asyncio.run(scenario())
    plain = lotor.run(protocol.plain(), made.cast.environment, budget=BUDGET, seed=SEED)
    assert (journals.trajectory(run, BUDGET), journals.total(run)) == (plain.arms, plain.reward)

"""Rounds on demand: none begins unasked, and all that are asked for come to their end."""

import asyncio
from pathlib import Path

import pytest

import lotor
from daemons import until
from lotor.core.errors import JournalWriteError
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.commands import NextRounds
from lotor.sandbox import Federation
from runtime.daemon.on_demand import PacedRun

SEED, BUDGET = 7, 14
FEW: dict[str, SecureProtocol] = {
    "samba shared": lotor.Samba(),
    "linucb-ds shared": lotor.LinUCBDS(),
    "helba two-servers": lotor.Helba(form="two-servers", servers=2),
    "ppcb dealt": lotor.PPCB(),
}
MORE: dict[str, SecureProtocol] = {
    "samba dealt": lotor.Samba(form="dealt"),
    "linucb-ds dealt": lotor.LinUCBDS(form="dealt"),
    "helba shared": lotor.Helba(),
    "samba batches": lotor.Samba(batch=3),
}
PROTOCOLS = [pytest.param(one, id=name) for name, one in FEW.items()]
PROTOCOLS += [pytest.param(one, id=name, marks=pytest.mark.long) for name, one in MORE.items()]


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_in_every_form_though_each_party_is_restarted(
    protocol: SecureProtocol, tmp_path: Path
) -> None:
    made = Federation.of(tmp_path / "f", protocol, budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, protocol)

    async def scenario() -> None:
        try:
            done = await run.begin(BUDGET)
            for count in (0, 1, 3):
                run.group.tell(made.opener, run.id, NextRounds(count))
                done += count
                await run.waits_after(done)
            await run.restart(*made.members)
            await run.waits_after(done)
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            await run.finishes()
        finally:
            await run.group.down()

    asyncio.run(scenario())
    plain = lotor.run(protocol.plain(), made.cast.environment, budget=BUDGET, seed=SEED)
    found = run.journals.trajectory(run.id, BUDGET), run.journals.total(run.id)
    assert found == (plain.arms, plain.reward)


def test_grants_are_neither_lost_nor_doubled_where_the_opener_goes_and_comes(
    tmp_path: Path,
) -> None:
    made = Federation.of(tmp_path / "f", lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            done = await run.begin(BUDGET)
            await run.waits_after(done)
            # Asked for while nobody is there to hear it, and the opener is gone when they are back.
            others = [name for name in made.members if name != made.opener]
            await run.group.down(*others)
            run.group.tell(made.opener, run.id, NextRounds(2))
            queue = run.group.nodes[made.opener].journal.commands
            await until(lambda: not queue.waiting())
            await run.restart(made.opener)
            await run.group.up(*others)
            await run.waits_after(done + 2)
            # One that has heard it tells it to those that have not.
            await run.group.down("lyon")
            run.group.tell(made.opener, run.id, NextRounds(1))
            await until(lambda: run.gates()["controller"].granted == 3)
            await run.group.down(made.opener)
            await run.group.up("lyon")
            await run.waits_after(done + 3)
            await run.group.up(made.opener)
            await until(lambda: {gate.granted for gate in run.gates().values()} == {3})
        finally:
            await run.group.down()

    asyncio.run(scenario())


def test_a_grant_never_counts_twice_where_its_command_could_not_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Federation.of(tmp_path / "f", lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    run = PacedRun(made, lotor.Samba())

    def full(*_: object) -> None:
        raise JournalWriteError("the disk is full")

    async def scenario() -> None:
        try:
            done = await run.begin(BUDGET)
            await run.waits_after(done)
            opener = run.group.nodes[made.opener]
            monkeypatch.setattr(opener.journal.commands, "done", full)
            run.group.tell(made.opener, run.id, NextRounds(2))
            await until(opener.ended.is_set)
            await run.restart(made.opener)
            await run.waits_after(done + 2)
        finally:
            await run.group.down()

    asyncio.run(scenario())

"""Any party's operator may pause a run, and it goes on when that operator says so."""

import asyncio
from pathlib import Path

import msgspec
import pytest

import lotor
from daemons import DaemonGroup, until
from lotor.runtime.daemon.commands import NextRounds, Pause, Resume
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.status import PAUSED
from lotor.sandbox import Federation
from runtime.daemon.on_demand import ON_DEMAND, PacedRun
from runtime.daemon.test_toy import ROLES, TOYS, configs, order

SEED, BUDGET = 7, 14


def federation(folder: Path) -> Federation:
    made = Federation.of(folder, lotor.Samba(), budget=BUDGET, seed=SEED)
    made.prepare()
    return made


async def paused_by(run: PacedRun, seat: str) -> None:
    """Until everybody knows who has paused the run."""

    def known() -> bool:
        gates = run.gates()
        others = [gate for name, gate in gates.items() if name != seat]
        knows = [gate.pausing == {seat} and gate.paused is None for gate in others]
        return (
            gates[seat].paused is not None
            and len(knows) == len(run.made.members) - 1
            and all(knows)
        )

    await until(known)


async def granted(run: PacedRun, rounds: int) -> None:
    await until(lambda: {gate.granted for gate in run.gates().values()} == {rounds})


def test_each_party_pauses_the_run_and_its_restart_does_not_end_that(tmp_path: Path) -> None:
    made = federation(tmp_path / "f")
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET)
            for number, name in enumerate(made.members):
                await run.waits_after(first + number)
                run.group.tell(name, run.id, Pause())
                await paused_by(run, name)
                run.group.tell(made.opener, run.id, NextRounds(1))
                await granted(run, number + 1)
                await run.restart(name)
                await paused_by(run, name)
                assert run.journals.round(run.id) == first + number
                run.group.tell(name, run.id, Resume())
            await run.waits_after(first + len(made.members))
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            await run.finishes()
        finally:
            await run.group.down()

    asyncio.run(scenario())
    plain = lotor.run(lotor.UCB(), made.cast.environment, budget=BUDGET, seed=SEED)
    assert run.journals.total(run.id) == plain.reward


def test_a_paused_party_stops_whatever_the_others_do_and_is_told_so(tmp_path: Path) -> None:
    made = federation(tmp_path / "f")
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET)
            await run.waits_after(first)
            run.group.tell("lyon", run.id, Pause())
            await paused_by(run, "lyon")
            live = run.group.nodes["lyon"].runs[run.id]
            assert live.note.startswith("paused by you since ")
            assert f"`lotor runs resume {run.id}`" in live.note
            said = run.group.nodes["porto"].runs[run.id].statuses.known["lyon"]
            assert (said.state, said.text) == (PAUSED, "lyon has paused the run")
            # Nobody else minds any more.
            for gate in run.gates().values():
                gate.pausing.clear()
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            controller = run.group.nodes["controller"].runs[run.id]
            assert controller.host is not None
            await until(lambda: controller.host and controller.host.awaits == "lyon")
            assert run.journals.round(run.id) < BUDGET
            run.group.tell("lyon", run.id, Resume())
            await run.finishes()
        finally:
            await run.group.down()

    asyncio.run(scenario())


@pytest.mark.long
def test_what_holds_a_paced_run_up_is_told(tmp_path: Path) -> None:
    made = federation(tmp_path / "f")
    run = PacedRun(made, lotor.Samba())

    async def scenario() -> None:
        try:
            first = await run.begin(BUDGET)
            await run.waits_after(first)
            lives = {name: node.runs[run.id] for name, node in run.group.nodes.items()}
            await until(lambda: lives["customer"].note == f"waits for `lotor runs next {run.id}`")
            text = "waits until the customer lets the next round begin"
            await until(lambda: lives["lyon"].note == lives["controller"].note == text)
            run.group.tell("customer", run.id, NextRounds(BUDGET))
            await run.finishes()
            slow = PacedRun(made, lotor.Samba())
            slow.group = run.group
            await slow.group.down()
            await slow.begin(BUDGET, Pace(3600.0))
            await slow.waits_after(first + 1)
            live = slow.group.nodes["customer"].runs[slow.id]
            await until(lambda: live.note.startswith("the next round begins at "))
            await slow.restart(*made.members)
            await slow.waits_after(first + 1)
        finally:
            await run.group.down()

    asyncio.run(scenario())


def test_a_form_that_does_not_say_when_its_rounds_begin_is_not_started_at_a_pace(
    tmp_path: Path,
) -> None:
    group = DaemonGroup(tmp_path / "kits", ROLES, configs(), TOYS)

    async def scenario() -> None:
        try:
            await group.up("anna")
            run = group.order("anna", msgspec.structs.replace(order(3), pace=ON_DEMAND))
            queue = group.nodes["anna"].journal.commands
            await until(lambda: queue.impossible(run))
            assert "does not say when its rounds begin" in str(queue.impossible(run))
        finally:
            await group.down()

    asyncio.run(scenario())

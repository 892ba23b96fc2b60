"""Inboxes where something is unusual: lost outcomes, ticks, functions that fail, who may take."""

import asyncio
from pathlib import Path

import pytest

import lotor
from daemons import until
from late_outcomes import paid
from lotor.core.errors import InputError, UnknownRunError
from lotor.runtime.daemon import node as node_module
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.local.interface import (
    GivingBack,
    LocalInterface,
    Resolution,
    Taking,
    Telling,
)
from lotor.runtime.daemon.open_kit import open_kit
from lotor.runtime.durable.journal import RUNNING
from lotor.sandbox.journals import Journals
from runtime.daemon.clinics import BUDGET, LATE, MEANS, Clinics, play

FAILS_ONCE = """
failed = set()


async def pull(decision):
    if decision.round in (4, 7) and decision.id not in failed:
        failed.add(decision.id)
        raise RuntimeError("the scanner is off")
    return (decision.arm * 7919 + decision.round * 104729) % 1000 / 1000
"""

HELD = """
import asyncio
from pathlib import Path


async def pull(decision):
    while (Path(__file__).parent / "hold").exists():
        await asyncio.sleep(0.005)
    return (decision.arm * 7919 + decision.round * 104729) % 1000 / 1000
"""


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "LOOK_SECONDS", 0.01)


def test_a_lost_outcome_that_is_waited_for_counts_least_also_when_nobody_is_served(
    tmp_path: Path,
) -> None:
    clinics = Clinics(tmp_path)

    async def scene() -> str:
        run = await clinics.start()
        customer = await clinics.group.live("customer", run)
        await until(lambda: clinics.waits("lyon", 1))
        await clinics.group.down("lyon")
        with open_kit(clinics.kit("lyon")) as at:
            (first,) = LocalInterface(at).decisions()
            LocalInterface(at).tell(Telling(first.id, lost=True))
        await clinics.group.up("lyon")
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, lambda _one: True)
            await asyncio.sleep(0.005)
        await clinics.ended(run)
        return run

    run = play(clinics, scene)
    assert len(clinics.rewards) == BUDGET - 1
    assert Journals(clinics.federation).total(run) == sum(clinics.rewards.values())


@pytest.mark.parametrize("late", [{}, LATE], ids=["each is waited for", "outstanding"])
def test_an_inbox_with_a_tick(late: dict[str, str | int], tmp_path: Path) -> None:
    clinics = Clinics(tmp_path, OwnerTable(inbox=True, tick=0.005))

    async def scene() -> str:
        run = await clinics.start(**late)
        customer = await clinics.group.live("customer", run)
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, lambda _one: True)
            await asyncio.sleep(0.005)
        await clinics.ended(run)
        return run

    run = play(clinics, scene)
    assert len(clinics.rewards) == BUDGET
    assert Journals(clinics.federation).total(run) == sum(clinics.rewards.values())


def test_a_function_that_fails_waits_for_a_person_who_tells_or_has_it_asked_again(
    tmp_path: Path,
) -> None:
    clinics = Clinics(tmp_path, OwnerTable(pull="late:pull"))
    for name in MEANS:
        (clinics.kit(name) / "late.py").write_text(FAILS_ONCE)

    seen: set[str] = set()

    def see_to(name: str, run: str) -> None:
        """What the operator does about a decision in doubt, once."""
        with open_kit(clinics.kit(name)) as at:
            desk = LocalInterface(at)
            with pytest.raises(InputError, match="nobody else may take them"):
                desk.take(Taking())
            for one in desk.decisions(run):
                if one.id in seen or one.id not in desk.run(run)["note"]:
                    continue
                seen.add(one.id)
                if one.round == 4:
                    desk.resolve(run, Resolution(one.id, reward=paid(one)))
                else:
                    desk.resolve(run, Resolution(one.id, again=True))
            assert at.journal.commands.waiting() == []

    async def scene() -> str:
        run = await clinics.start(**LATE)
        customer = await clinics.group.live("customer", run)
        for name in MEANS:
            await clinics.group.live(name, run)
        while customer.state == RUNNING:
            for name in MEANS:
                see_to(name, run)
            await asyncio.sleep(0.02)
        await clinics.ended(run)
        assert len(seen) == 2
        return run

    clinics.assert_equals_plain(play(clinics, scene), lotor.CallbackArms([paid] * 2))


@pytest.mark.long
@pytest.mark.parametrize("repeatable", [True, False])
def test_a_party_that_stops_while_its_function_is_slow(repeatable: bool, tmp_path: Path) -> None:
    """A function that recognises a decision is asked again; of another one, a person decides."""
    clinics = Clinics(tmp_path, OwnerTable(pull="late:pull", repeatable=repeatable))
    for name in MEANS:
        (clinics.kit(name) / "late.py").write_text(HELD)
    hold = clinics.kit("lyon") / "hold"
    hold.touch()

    async def scene() -> str:
        run = await clinics.start(**LATE)
        customer = await clinics.group.live("customer", run)
        await until(lambda: clinics.waits("lyon", 1))
        await clinics.group.down("lyon")
        hold.unlink()
        await clinics.group.up("lyon")
        if not repeatable:
            live = await clinics.group.live("lyon", run)
            await until(lambda: "stopped between asking and the answer" in live.note)
            with open_kit(clinics.kit("lyon")) as at:
                desk = LocalInterface(at)
                for one in desk.decisions(run):
                    if one.id in desk.run(run)["note"]:
                        desk.resolve(run, Resolution(one.id, again=True))
        await until(lambda: customer.state != RUNNING)
        await clinics.ended(run)
        return run

    clinics.assert_equals_plain(play(clinics, scene), lotor.CallbackArms([paid] * 2))


def test_what_nobody_knows_is_refused(tmp_path: Path) -> None:
    clinics = Clinics(tmp_path)

    async def scene() -> str:
        run = await clinics.start(outstanding=BUDGET)
        await until(lambda: clinics.waits("lyon", 1))
        with open_kit(clinics.kit("lyon")) as at:
            desk = LocalInterface(at)
            first = desk.decisions(run[:6])[0]
            with pytest.raises(UnknownRunError, match="no run here"):
                desk.decisions("nonsense")
            with pytest.raises(UnknownRunError, match="no run here"):
                desk.take(Taking(run="nonsense"))
            with pytest.raises(InputError, match="there is no decision ''"):
                desk.tell(Telling("", 0.5))
            desk.tell(Telling(first.id, 0.5))
            with pytest.raises(InputError, match="has its outcome, so it was carried out"):
                desk.give_back(GivingBack(first.id))
        customer = await clinics.group.live("customer", run)
        customer.stop("enough")
        return run

    play(clinics, scene)

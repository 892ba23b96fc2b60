"""Decisions and outcomes apart, as daemons: people, programs and functions tell outcomes later."""

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import lotor
from daemons import SandboxDaemons, until
from late_outcomes import paid
from lotor.core.errors import InputError
from lotor.runtime.daemon import node as node_module
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.local.interface import LocalInterface
from lotor.runtime.daemon.open_kit import open_kit
from lotor.runtime.durable import outcomes
from lotor.runtime.durable.journal import RUNNING
from lotor.sandbox.journals import Journals
from runtime.daemon.clinics import BUDGET, LATE, MEANS, SEED, Clinics, play

ASYNC = """
import asyncio


async def pull(decision):
    await asyncio.sleep(decision.round % 3 / 200)
    return (decision.arm * 7919 + decision.round * 104729) % 1000 / 1000
"""


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "LOOK_SECONDS", 0.01)


@pytest.mark.parametrize("late", [{}, LATE], ids=["each is waited for", "outstanding"])
def test_outcomes_that_are_told_when_they_are_waited_for(
    late: dict[str, str | int], tmp_path: Path
) -> None:
    clinics = Clinics(tmp_path)

    async def scene() -> str:
        run = await clinics.start(**late)
        live = {name: await clinics.group.live(name, run) for name in MEANS}

        def due(name: str) -> Callable[[lotor.OpenDecision], bool]:
            """Only what the party cannot do without: arrivals are then the same in each run."""
            host = live[name].host
            if host is None:
                return lambda _one: False
            awaited = {one.id for one in host.awaited}
            return lambda one: one.id in awaited

        customer = await clinics.group.live("customer", run)
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, due(name))
            await asyncio.sleep(0.005)
        await clinics.ended(run)
        return run

    run = play(clinics, scene)
    samba = lotor.Samba(lotor.UCB(), delay=BUDGET if late else 0, **late)  # type: ignore[arg-type]
    plain = lotor.run(samba.plain(), clinics.cast.environment, budget=BUDGET, seed=SEED)
    journals = Journals(clinics.federation)
    assert journals.trajectory(run, BUDGET) == plain.arms
    assert journals.total(run) == plain.reward


@pytest.mark.long
def test_outcomes_in_any_order_with_parties_that_come_and_go(tmp_path: Path) -> None:
    clinics, draw = Clinics(tmp_path), Random(3)

    async def scene() -> str:
        run = await clinics.start(**LATE)
        customer = await clinics.group.live("customer", run)
        names = [*MEANS, "controller", "comp"]
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, lambda one: one.round <= 2 or draw.random() < 0.3)
            if names and len(clinics.rewards) > 4 * (5 - len(names)):
                name = names.pop()
                await clinics.group.down(name)
                if name in MEANS:  # told while nobody serves it
                    clinics.tell(name, lambda _one: True)
                await clinics.group.up(name)
            await asyncio.sleep(0.005)
        assert not names
        await clinics.ended(run)
        return run

    run = play(clinics, scene)
    clinics.assert_equals_plain(run)


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_function_whose_answers_come_late(repeatable: bool, tmp_path: Path) -> None:
    clinics = Clinics(tmp_path, OwnerTable(pull="late:pull", repeatable=repeatable))
    for name in MEANS:
        (clinics.kit(name) / "late.py").write_text(ASYNC)

    async def scene() -> str:
        run = await clinics.start(**LATE)
        await clinics.ended(run)
        return run

    clinics.assert_equals_plain(play(clinics, scene), lotor.CallbackArms([paid] * 2))


def all_settling(group: SandboxDaemons) -> bool:
    """Whether the owners only wait for what never comes."""
    hosts = [live.host for name in MEANS for live in group.nodes[name].runs.values()]
    return all(host is None or host.finished or host.lacks_outcomes for host in hosts)


class Calendar:
    """The date, as the journal has it; `days` can be let pass."""

    days = 0

    def time(self) -> float:
        return time.time() + self.days * 86400


def test_a_run_settles_without_what_never_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinics, calendar = Clinics(tmp_path), Calendar()
    monkeypatch.setattr(outcomes, "time", calendar)
    lost, never = {3, 8}, {12, 20}

    async def scene() -> str:
        run = await clinics.start(outstanding=BUDGET, settle="90d")
        customer = await clinics.group.live("customer", run)
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, lambda one: one.round not in lost | never)
                with closing(clinics.inbox(name)) as inbox:
                    for one in inbox.waiting():
                        if one.round in lost:
                            inbox.tell(one.id, None)
            if len(clinics.rewards) == BUDGET and all_settling(clinics.group):
                calendar.days = 91
            await asyncio.sleep(0.005)
        await clinics.ended(run)
        return run

    run = play(clinics, scene)
    counted = [
        reward
        for name, reward in clinics.rewards.items()
        if int(name.rsplit("/", 1)[1]) not in lost | never
    ]
    assert len(counted) == BUDGET - 4
    assert Journals(clinics.federation).total(run) == sum(counted)
    with open_kit(clinics.kit("customer")) as at:
        about = LocalInterface(at).run(run)
    assert about["outcomes"] == BUDGET - 4
    assert about["late_outcomes"].endswith("at its end the run waits 90 d for what is missing")


def test_what_cannot_be_told_changes_nothing(tmp_path: Path) -> None:
    clinics = Clinics(tmp_path)

    def refused(inbox: lotor.Inbox, decision: str, reward: float | None, why: str) -> None:
        before = inbox.waiting()
        with pytest.raises(InputError, match=why):
            inbox.tell(decision, reward)
        assert inbox.waiting() == before

    async def scene() -> str:
        run = await clinics.start(outstanding=BUDGET)
        live = await clinics.group.live("lyon", run)
        # From then on no decision appears.
        await until(lambda: live.host is not None and live.host.lacks_outcomes)
        with closing(clinics.inbox("lyon")) as inbox:
            first, second, *_ = inbox.waiting()
            refused(inbox, first.id, 1.5, "outside this party's reward_range")
            refused(inbox, first.id, float("nan"), "outside this party's reward_range")
            refused(inbox, f"{run}/0/999", 0.5, "there is no decision")
            refused(inbox, "nonsense", 0.5, "there is no decision")
            assert inbox.tell(first.id, 0.5)
            assert not inbox.tell(first.id, 0.5)
            refused(inbox, first.id, 0.25, "another outcome already")
            refused(inbox, first.id, None, "another outcome already")
            with pytest.raises(InputError, match="there is no decision"):
                inbox.tell_all([(second.id, 0.5), ("nonsense", 0.5)])
            assert inbox.tell(second.id, 0.5)
            taken = inbox.take(2)
            assert len(taken) == 2
            assert {one.id for one in inbox.take(BUDGET)}.isdisjoint(one.id for one in taken)
            inbox.give_back(taken[0].id)
            assert [one.id for one in inbox.take()] == [taken[0].id]
        customer = await clinics.group.live("customer", run)
        while customer.state == RUNNING:
            for name in MEANS:
                clinics.tell(name, lambda _one: True)
            await asyncio.sleep(0.005)
        await clinics.ended(run)
        with closing(clinics.inbox("lyon")) as inbox:
            refused(inbox, first.id, 0.5, "too late")
        return run

    play(clinics, scene)

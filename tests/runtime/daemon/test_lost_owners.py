"""An owner's daemon is gone for good; all others agree to go on, and it cannot come back."""

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

import lotor
from commands import lotor as command
from daemons import until
from losing import drive_bereft
from lotor.core.errors import InputError
from lotor.runtime.daemon.commands import NextRounds, StartRun
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.local.interface import Excluding, LocalInterface
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import FINISHED, REFUSED, RUNNING, STOPPED
from lotor.sandbox import Federation
from runtime.daemon.on_demand import PacedRun

SEED, BUDGET, THEN, LOST = 7, 16, 4, "lyon"
SAMBA = lotor.Samba(exclude_after="0.2s")


class LosingRun(PacedRun):
    """What operators do about it, each from another process than its daemon's."""

    def exclude(self, name: str, party: str = LOST) -> str:
        with open_kit(self.made.kits[name]) as at:
            done = LocalInterface(at).exclude(self.id, Excluding(party)).done
        self.group.nodes[name].commands.look_again()
        return done

    def shown(self, name: str) -> dict[str, Any]:
        with open_kit(self.made.kits[name]) as at:
            return LocalInterface(at).run(self.id)

    async def known_as_lost(self, name: str, party: str = LOST) -> None:
        """Until this party knows since when the other one is away, and for long enough."""

        def due() -> bool:
            lost = self.shown(name).get("lost", ())
            return any(one["seat"] == party for one in lost)

        await until(due)
        await until(lambda: time.time() > self.since(party) + 0.2)

    def since(self, party: str) -> float:
        status = self.group.nodes["controller"].runs[self.id].statuses.own
        assert status is not None
        return status.missing[party]

    def lacking(self, name: str) -> set[str] | None:
        """Who still must agree, as this party has heard."""
        lost = self.shown(name)["lost"]
        return set(lost[0]["lacking"]) if lost else None

    async def gone_at(self, name: str) -> None:
        live = self.group.nodes[name].runs[self.id]
        await until(lambda: LOST in live.losses.gone)


@pytest.fixture
def run(tmp_path: Path) -> LosingRun:
    made = Federation.of(tmp_path / "f", SAMBA, budget=BUDGET, seed=SEED)
    made.prepare()
    return LosingRun(made, SAMBA)


def test_the_run_goes_on_without_it_and_says_so(run: LosingRun) -> None:
    made = run.made
    others = [name for name in made.members if name != LOST]
    first, at_round = 3, 3 + 4

    async def scenario() -> None:
        try:
            assert await run.begin(BUDGET) == first
            run.group.tell(made.opener, run.id, NextRounds(4))
            await run.waits_after(at_round)
            for name in others:
                with pytest.raises(InputError, match="lyon is not away"):
                    run.exclude(name)
            await run.group.down(LOST)
            run.group.tell(made.opener, run.id, NextRounds(2))
            for name in others:
                await run.known_as_lost(name)
                with pytest.raises(InputError, match="no run can go on without it"):
                    run.exclude(name, "comp")
            for name in others[1:]:
                assert "you agree to go on without lyon" in run.exclude(name)
                with pytest.raises(
                    InputError, match="have agreed to the exclusion of lyon already"
                ):
                    run.exclude(name)
            await until(lambda: not run.group.nodes[others[-1]].journal.commands.waiting())
            # A restart forgets no agreement, and not all have agreed yet.
            await run.restart(*others)
            await until(lambda: run.lacking("controller") == {others[0]})
            assert run.group.nodes["controller"].runs[run.id].losses.gone == set()
            kit = str(made.kits[others[0]])
            done = command("runs", "exclude", run.id, LOST, "--kit", kit)
            assert "you agree to go on without lyon: all others have agreed" in done.stderr
            await run.gone_at("controller")
            await run.restart("controller", "comp")
            await run.waits_after(at_round + 2)
            # It comes back, and learns that it is out.
            await run.group.up(LOST)
            live = await run.group.state(LOST, run.id, STOPPED)
            assert "lyon is excluded" in live.note
            assert "all others agreed" in live.note
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            await run.finishes()
            for name in others:
                await run.gone_at(name)
            # Nobody waits to tell it anything.
            controller = run.group.nodes["controller"].runs[run.id]
            await until(controller.over.is_set)
            # Also now: nobody has anything to do with it.
            await run.restart(LOST)
            await until(lambda: LOST in run.group.nodes["controller"].connections.names())
            for name in others:
                assert run.group.nodes[name].runs[run.id].state != STOPPED
        finally:
            await run.group.down()

    asyncio.run(scenario())
    document = run.shown(made.opener)
    arms, pulls = drive_bereft(
        SAMBA, made.cast.environment, {0: at_round + 1}, budget=BUDGET, seed=SEED
    )
    # Its last escrow is from the round before, so what it has paid in that round is not counted.
    paid = [x for t, arm, x in pulls if arm != 0 or t < at_round]
    assert run.journals.trajectory(run.id, BUDGET) == arms
    assert (document["reward"], document.get("without")) == (sum(paid), {LOST: at_round + 1})
    assert document["outcomes"] == len(paid)
    assert [one["seat"] for one in document["excluded"]] == [LOST]


def test_one_that_comes_back_in_time_stays_and_old_agreements_do_not_count(run: LosingRun) -> None:
    others = [name for name in run.made.members if name != LOST]

    async def scenario() -> None:
        try:
            await run.begin(BUDGET)
            await run.waits_after(3)
            await run.group.down(LOST)
            run.group.tell(run.made.opener, run.id, NextRounds(2))
            for name in others:
                await run.known_as_lost(name)
            for name in others[1:]:
                run.exclude(name)
            await until(lambda: not run.group.nodes[others[-1]].journal.commands.waiting())
            await run.group.up(LOST)
            await run.waits_after(5)
            await run.group.down(LOST)
            run.group.tell(run.made.opener, run.id, NextRounds(2))
            for name in others:
                await run.known_as_lost(name)
            run.exclude(others[0])
            await until(lambda: not run.group.nodes[others[0]].journal.commands.waiting())
            live = run.group.nodes["controller"].runs[run.id]
            await until(lambda: live.host is not None and live.host.missed == LOST)
            live.look_after()
            assert live.losses.gone == set()
            assert live.state == RUNNING
            assert run.lacking(others[0]) == set(others[1:])
        finally:
            await run.group.down()

    asyncio.run(scenario())


@pytest.mark.long
def test_two_that_are_lost_together_leave_together(run: LosingRun) -> None:
    """Neither can agree to the other's leaving."""
    made = run.made
    owners = [name for name, role in made.members.items() if role == "owner"]
    lost, others = owners[:2], [name for name in made.members if name not in owners[:2]]

    async def scenario() -> None:
        try:
            await run.begin(BUDGET)
            run.group.tell(made.opener, run.id, NextRounds(2))
            await run.waits_after(5)
            await run.group.down(*lost)
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            for name in others:
                for party in lost:
                    await run.known_as_lost(name, party)
                    run.exclude(name, party)
            await run.finishes()
            await run.group.up(*lost)
            for name in lost:
                await run.group.state(name, run.id, STOPPED)
        finally:
            await run.group.down()

    asyncio.run(scenario())
    absent = {arm: 6 for arm, owner in enumerate(owners) if owner in lost}
    arms, _ = drive_bereft(SAMBA, made.cast.environment, absent, budget=BUDGET, seed=SEED)
    assert run.journals.trajectory(run.id, BUDGET) == arms
    assert run.shown(made.opener)["without"] == dict.fromkeys(lost, 6)


@pytest.mark.long
def test_those_who_are_left_can_continue_the_run_without_it(tmp_path: Path) -> None:
    keeping = lotor.Samba(exclude_after="0.2s", keep=True)
    made = Federation.of(tmp_path / "f", keeping, budget=BUDGET, seed=SEED)
    made.prepare()
    for name, role in made.members.items():
        if role == "owner":
            let_keep(made.kits[name] / "party.toml")
    run = LosingRun(made, keeping)
    others = [name for name in made.members if name != LOST]
    listed = read_config(made.kits[made.opener] / "party.toml").members
    left = {role: [name for name in names if name != LOST] for role, names in listed.items()}

    async def further(members: dict[str, list[str]]) -> LiveRun:
        options: dict[str, str | int] = {**keeping.order_options()}
        order = StartRun("samba", THEN, options, members, continues=run.id)
        live = await run.group.live(made.opener, run.group.order(made.opener, order))
        await until(lambda: live.state != RUNNING)
        return live

    async def scenario() -> None:
        try:
            await run.begin(BUDGET)
            await run.waits_after(3)
            await run.group.down(LOST)
            run.group.tell(made.opener, run.id, NextRounds(BUDGET))
            for name in others:
                await run.known_as_lost(name)
                run.exclude(name)
            await run.finishes()
            await run.group.up(LOST)
            await run.group.state(LOST, run.id, STOPPED)
            for name in left["owner"]:
                await run.group.state(name, run.id, FINISHED)
            live = await further(left)
            assert (live.state, live.note) == (FINISHED, "")
            assert live.agreement.plan.before == BUDGET
            # It has kept nothing, and cannot be ordered as if it had.
            live = await further({role: list(names) for role, names in listed.items()})
            assert live.state == REFUSED
            assert f"run {run.id} is stopped at {LOST}" in live.note
        finally:
            await run.group.down()

    asyncio.run(scenario())


def let_keep(path: Path) -> None:
    config = read_config(path)
    assert config.consent is not None
    consent = msgspec.structs.replace(config.consent, keep=True)
    write_config(path, msgspec.structs.replace(config, consent=consent))

"""What a party allows is allowed for all runs together, also across restarts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from daemons import DaemonGroup, until
from lotor.protocols.form import AnyForm, RunPlan
from lotor.runtime.daemon import run_registry
from lotor.runtime.daemon.commands import Approve, Refuse, Stop
from lotor.runtime.daemon.config import write_config
from lotor.runtime.daemon.config_tables import ConsentRules
from lotor.runtime.daemon.consent import RunRequest, objections
from lotor.runtime.durable.journal import FINISHED, REFUSED, RUNNING, STOPPED, WAITING
from lotor.runtime.durable.ledger import BudgetSum, Charge, LedgerEntry
from lotor.transport import MemoryNetwork
from runtime.daemon.test_toy import PULL, ROLES, configs, order
from toy import Toy, ToyForm

RULES = ConsentRules(
    customers=("*",), policies=("*",), least_budget=1, total_budget=10**7, code=("*",)
)


def accounted(told: float | None, delta: float) -> type[Toy]:
    """The toy with an account of what its arms tell."""

    class AccountedForm(ToyForm):
        def plan(self, order: bytes) -> RunPlan:
            return replace(super().plan(order), privacy=told, delta=delta)

    class Accounted(Toy):
        forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": AccountedForm}

    return Accounted


class LimitedGroup(DaemonGroup):
    """The toy's parties, of which carl has rules."""

    def rules(self, rules: ConsentRules) -> None:
        config = msgspec.structs.replace(self.configs["carl"], consent=rules)
        write_config(self.kits["carl"] / "party.toml", config)

    @property
    def spent(self) -> BudgetSum:
        return self.nodes["carl"].journal.ledger.spent()

    @property
    def entries(self) -> list[LedgerEntry]:
        return self.nodes["carl"].journal.ledger.entries()

    async def finished(self, budget: int) -> str:
        run = self.order("anna", order(budget))
        for name in ROLES:
            await self.state(name, run, FINISHED)
        return run

    async def waits(self, budget: int) -> tuple[str, str]:
        """A new run and why it waits at carl's."""
        run = self.order("anna", order(budget))
        live = await self.live("carl", run)
        assert live.state == WAITING
        return run, live.note


def play(
    folder: Path,
    scene: Callable[[LimitedGroup], Awaitable[None]],
    rules: ConsentRules,
    told: float | None = None,
    delta: float = 0.0,
) -> None:
    async def whole() -> None:
        made = LimitedGroup(
            folder / "f",
            ROLES,
            configs(),
            {"toy": accounted(told, delta)},
            transport=MemoryNetwork().join,
        )
        (made.kits["carl"] / "world.py").write_text(PULL)
        made.rules(rules)
        try:
            await made.up()
            await scene(made)
        finally:
            await made.down()

    asyncio.run(whole())


def test_a_second_run_waits_for_approval_if_both_tell_too_much(tmp_path: Path) -> None:
    async def scene(made: LimitedGroup) -> None:
        await made.finished(3)
        assert (made.spent.epsilon, made.spent.delta) == (7.0, 1e-6)
        await made.down("carl")
        await made.up("carl")
        run, note = await made.waits(3)
        assert note == (
            "its arms may tell up to 7.0 and those of earlier runs up to 7.0, which is above "
            "privacy_budget 12.0"
        )
        assert made.spent.epsilon == 7.0  # what waits costs nothing
        told = (await made.live("anna", run)).statuses.known
        await until(lambda: "adder" in told)
        assert not any(word in told["adder"].text for word in ("privacy", "12.0", "7.0"))
        await made.down("carl")
        await made.up("carl")
        assert (await made.live("carl", run)).state == WAITING
        made.tell("carl", run, Approve())
        await made.state("anna", run, FINISHED)
        await made.state("carl", run, FINISHED)
        assert [entry.approved for entry in made.entries] == [False, True]
        assert (made.spent.epsilon, made.spent.delta) == (14.0, 2e-6)
        assert {entry.customer for entry in made.entries} == {"anna"}
        certificate = made.nodes["anna"].kit.certificate.fingerprint
        assert {entry.certificate for entry in made.entries} == {certificate}
        assert {(entry.protocol, entry.form) for entry in made.entries} == {("toy", "paper")}

    rules = msgspec.structs.replace(RULES, privacy_budget=12.0)
    play(tmp_path, scene, rules, told=7.0, delta=1e-6)


def test_a_run_that_may_have_told_everything_leaves_nothing(tmp_path: Path) -> None:
    async def scene(made: LimitedGroup) -> None:
        run, note = await made.waits(3)
        assert note.startswith("its arms may tell everything")
        made.tell("carl", run, Approve())
        await made.state("carl", run, FINISHED)
        assert made.spent.epsilon == inf
        _, note = await made.waits(3)
        assert "those of earlier runs everything (no bound, inf)" in note

    play(tmp_path, scene, msgspec.structs.replace(RULES, privacy_budget=1e300), told=inf)


def test_a_delta_above_the_largest_waits_although_nothing_else_is_limited(tmp_path: Path) -> None:
    async def scene(made: LimitedGroup) -> None:
        run, note = await made.waits(3)
        assert note == (
            "its arms may tell more than is stated with probability 2e-06, which is above "
            "largest_delta 1e-06"
        )
        made.tell("carl", run, Refuse("no"))
        await made.state("carl", run, REFUSED)
        assert made.spent == BudgetSum()  # refused, it never started

    play(tmp_path, scene, RULES, told=0.0, delta=2e-6)


def test_a_run_that_goes_on_counts_with_its_whole_budget_and_ended_with_its_pulls(
    tmp_path: Path,
) -> None:
    async def scene(made: LimitedGroup) -> None:
        long = made.order("anna", order(10**6))
        live = await made.live("carl", long)
        await until(lambda: live.round > 5)
        assert made.spent.pulls == 10**6
        waiting, note = await made.waits(3)
        assert note == (
            "its budget of 3 and the 1000000 of earlier runs are above total_budget 1000000"
        )
        await made.down("carl")
        await made.up("carl")
        assert made.spent.pulls == 10**6
        made.tell("carl", long, Stop("enough"))
        await made.state("carl", long, STOPPED)
        pulls, _ = made.nodes["carl"].journal.pulled(long)
        charged = made.spent.pulls
        assert 5 <= pulls <= charged <= pulls + 1 < 10**6  # one may have been under way
        await made.finished(7)
        assert made.spent.pulls == charged + 7
        assert (await made.live("carl", waiting)).state == WAITING
        assert made.spent.runs == 2

    play(tmp_path, scene, msgspec.structs.replace(RULES, total_budget=10**6))


def test_privacy_stays_charged_when_a_run_ends_early(tmp_path: Path) -> None:
    """Those who saw the arms could say that the run ended before the first one."""

    async def scene(made: LimitedGroup) -> None:
        run = made.order("anna", order(10**6))
        live = await made.state("carl", run, RUNNING)
        await until(lambda: live.round > 0)
        made.tell("anna", run, Stop("enough"))
        await made.state("carl", run, STOPPED)
        assert made.spent.epsilon == 7.0
        await made.waits(3)

    play(tmp_path, scene, msgspec.structs.replace(RULES, privacy_budget=12.0), told=7.0)


def test_two_runs_that_start_at_once_do_not_both_slip_under_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is charged after the other was found to be within the limit, and before it starts."""

    async def scene(made: LimitedGroup) -> None:
        ledger = made.nodes["carl"].journal.ledger

        def decided(rules: ConsentRules | None, request: RunRequest, spent: BudgetSum) -> list[str]:
            found = objections(rules, request, spent)
            if not ledger.entries():
                ledger.charge("other", Charge(customer="globex", pulls=60), approved=False)
            return found

        monkeypatch.setattr(run_registry, "objections", decided)
        _, note = await made.waits(60)
        assert note == "its budget of 60 and the 60 of earlier runs are above total_budget 100"
        assert [entry.run for entry in ledger.entries()] == ["other"]

    play(tmp_path, scene, msgspec.structs.replace(RULES, total_budget=100))

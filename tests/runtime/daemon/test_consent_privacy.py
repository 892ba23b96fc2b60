"""A daemon lets a run wait whose arms may tell more than its party allows, and says so."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from daemons import DaemonGroup
from lotor.protocols.form import AnyForm, RunPlan
from lotor.runtime.daemon.commands import Approve
from lotor.runtime.durable.journal import FINISHED, WAITING
from runtime.daemon.test_toy import PULL, ROLES, configs, order
from toy import Toy, ToyForm


def accounted(told: float) -> type[Toy]:
    """The toy with a figure for what its arms tell."""

    class AccountedForm(ToyForm):
        def plan(self, order: bytes) -> RunPlan:
            return replace(super().plan(order), privacy=told)

    class Accounted(Toy):
        forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": AccountedForm}

    return Accounted


def make_group(folder: Path, told: float, allowed: float) -> DaemonGroup:
    parties = configs()
    rules = parties["carl"].consent
    assert rules is not None
    parties["carl"] = msgspec.structs.replace(
        parties["carl"], consent=msgspec.structs.replace(rules, privacy_budget=allowed)
    )
    group = DaemonGroup(folder, ROLES, parties, {"toy": accounted(told)})
    (group.kits["carl"] / "world.py").write_text(PULL)
    return group


@pytest.mark.parametrize(
    ("told", "figure"), [(12.5, "up to 12.5"), (math.inf, "everything (no bound, inf)")]
)
def test_it_waits_for_approval(tmp_path: Path, told: float, figure: str) -> None:
    async def scenario() -> None:
        group = make_group(tmp_path / "f", told, allowed=12.0)
        try:
            await group.up()
            run = group.order("anna", order(3))
            live = await group.state("carl", run, WAITING)
            sentence = f"its arms may tell {figure}, which is above privacy_budget 12.0"
            assert live.note == sentence
            row = group.nodes["carl"].journal.find(run)
            assert row is not None
            assert row.note == sentence
            group.tell("carl", run, Approve())
            await group.state("anna", run, FINISHED)
        finally:
            await group.down()

    asyncio.run(scenario())


def test_it_starts_by_itself_within_the_limit(tmp_path: Path) -> None:
    async def scenario() -> None:
        group = make_group(tmp_path / "f", told=12.0, allowed=12.0)
        try:
            await group.up()
            await group.state("anna", group.order("anna", order(3)), FINISHED)
        finally:
            await group.down()

    asyncio.run(scenario())

"""A daemon lets a run wait whose arms may tell more than its party allows, and says so."""

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from household import Household
from lotor.protocols.deployment import Plan
from lotor.runtime.daemon.commands import Approve
from lotor.runtime.durable.journal import FINISHED, WAITING
from runtime.daemon.test_toy import PULL, ROLES, configs, order
from toy import ToyDeployment


class Accounted(ToyDeployment):
    """The toy with a figure for what its arms tell."""

    def __init__(self, told: float) -> None:
        self._told = told

    def plan(self, order: bytes) -> Plan:
        return replace(super().plan(order), privacy=self._told)


def household(folder: Path, told: float, allowed: float) -> Household:
    parties = configs()
    rules = parties["carl"].consent
    assert rules is not None
    parties["carl"] = msgspec.structs.replace(
        parties["carl"], consent=msgspec.structs.replace(rules, privacy_budget=allowed)
    )
    house = Household(folder, ROLES, parties, {"toy": Accounted(told)})
    (house.kits["carl"] / "world.py").write_text(PULL)
    return house


@pytest.mark.parametrize(
    ("told", "figure"), [(12.5, "up to 12.5"), (math.inf, "everything (no bound, inf)")]
)
def test_it_waits_for_approval(tmp_path: Path, told: float, figure: str) -> None:
    async def scenario() -> None:
        house = household(tmp_path / "f", told, allowed=12.0)
        try:
            await house.up()
            run = house.order("anna", order(3))
            live = await house.state("carl", run, WAITING)
            sentence = f"its arms may tell {figure}, which is above privacy_budget 12.0"
            assert live.note == sentence
            row = house.nodes["carl"].journal.find(run)
            assert row is not None
            assert row.note == sentence
            house.tell("carl", run, Approve())
            await house.state("anna", run, FINISHED)
        finally:
            await house.down()

    asyncio.run(scenario())


def test_it_starts_by_itself_within_the_limit(tmp_path: Path) -> None:
    async def scenario() -> None:
        house = household(tmp_path / "f", told=12.0, allowed=12.0)
        try:
            await house.up()
            await house.state("anna", house.order("anna", order(3)), FINISHED)
        finally:
            await house.down()

    asyncio.run(scenario())

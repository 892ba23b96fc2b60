"""Parties of the forms that compute on shares crash, lose power, and come to other numbers."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

import lotor
from crashing import Fate, Simulation, Site, World
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import JournalError, LotorError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.linucb_ds.dealt import messages as dealt
from lotor.protocols.linucb_ds.game import LinearGame, ScoreRows
from lotor.protocols.linucb_ds.shared import messages as shared
from lotor.protocols.party import Run
from lotor.protocols.two_server import messages as two_server
from lotor.runtime.durable.questions import QuestionLog
from one_use import Departure, used_twice
from power import Fickle, PowerCuts
from rebuilding import RestartingRun, rebuildable
from restarting import Restarting

BUDGET, SEED = 6, 6
VECTORS = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.5, -0.5]]
ARMS = lotor.LinearArms(VECTORS, theta=[0.6, 0.3])
RING = [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
NODES = lotor.GraphArms(RING, values=[0.2, 0.5, 0.8, 0.5])
ONE_USE: dict[str, tuple[type[Message], ...]] = {
    "shared": (
        garbled.Columns,
        garbled.GarbledTables,
        garbled.DecodingTable,
        garbled.InputLabels,
        shared.ProductBatch,
        shared.CoveredRows,
        shared.SumColumns,
        shared.SumWords,
    ),
    "dealt": (
        dealt.DealtChoice,
        dealt.DealtRewards,
        two_server.Opened,
        two_server.Corrections,
    ),
}
FORMS = list(ONE_USE)
SIZES = [
    ("shared", 2),
    ("dealt", None),
    pytest.param(("shared", None), marks=pytest.mark.long),
    pytest.param(("shared", 1), marks=pytest.mark.long),
]
ROWS: dict[str, type[Message]] = {"shared": shared.CoveredRows, "dealt": two_server.Opened}
"""What carries P's rows, under a pad."""

Case = tuple[lotor.LinUCBDS, lotor.LinearArms]


@cache
def case(form: str, kind: str = "linucb") -> Case:
    if kind == "linucb":
        return lotor.LinUCBDS(form=form), ARMS
    if kind == "lints":
        return lotor.LinUCBDS(lotor.LinTS(), form=form), ARMS
    return lotor.SpectralUCBDS(form=form), NODES


@pytest.fixture(params=SIZES, ids=str)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each form; the shared one also with small batches, so that their ends fall anywhere."""
    name, together = request.param
    if together is not None:
        monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", together)
        # Three rounds for each batch of products, or two.
        slots = 3 * len(VECTORS)
        monkeypatch.setattr("lotor.protocols.linucb_ds.shared.schedule.SLOTS", slots)
        for role in ("principal", "comp"):
            place = f"lotor.protocols.linucb_ds.shared.{role}.COORDINATES_TOGETHER"
            monkeypatch.setattr(place, 1)
    return str(name)


@pytest.mark.parametrize("kind", ["linucb", "lints", "spectral-ucb"])
@pytest.mark.parametrize("every", [1, 2])
def test_restarted_equals_uninterrupted(form: str, kind: str, every: int) -> None:
    """From the very first effect on, the set-up included."""
    protocol, arms = case(form, kind)
    smooth = run_openly(protocol, arms, budget=BUDGET, seed=SEED)
    broken = run_openly(RestartingRun(protocol, every), arms, budget=BUDGET, seed=SEED)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert broken.seats["customer"].output == smooth.seats["customer"].output


def sites_of(form: str, budget: int = BUDGET) -> dict[str, Site]:
    protocol, arms = case(form)
    run = Run("aa", arms.k, budget, RewardScale(-9, 9), SEED, arms, 2)
    made = rebuildable(protocol, run)
    return {name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()}


@cache
def plain(form: str) -> lotor.Result:
    protocol, arms = case(form)
    return lotor.run(protocol.plain(), arms, budget=BUDGET, seed=SEED)


def arms_pulled(site: Site) -> list[int]:
    rows = site.disk.execute("SELECT decision FROM pulls WHERE decision IS NOT NULL").fetchall()
    by_round = {int(t): int(arm) for _, arm, t in (one.split("/") for (one,) in rows)}
    return [by_round[t] for t in sorted(by_round)]


def survived(form: str, fate: Fate, *, seed: int = 0, cuts: float = 0.0) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    sites = sites_of(form)
    simulation = Simulation(sites, World([0.5], seed=0), fate, seed=seed, cuts=cuts)
    simulation.run()
    customer = sites["customer"].host
    assert customer is not None
    assert customer.output == plain(form).reward
    assert arms_pulled(sites["principal"]) == plain(form).arms
    closed(sites)
    return simulation.sent


def closed(sites: dict[str, Site]) -> None:
    for site in sites.values():
        site.disk.close()


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(form: str, seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.01)
        sent = survived(form, fate, seed=seed, cuts=0.02)
        assert used_twice(sent, *ONE_USE[form]) == []
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def steps_of(run: Callable[[Fate], object]) -> int:
    fate = Fate()
    run(fate)
    return fate.steps


STRIDES = [23, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("stride", STRIDES)
def test_a_crash_at_every_step(form: str, stride: int) -> None:
    def run(fate: Fate) -> None:
        assert used_twice(survived(form, fate), *ONE_USE[form]) == []

    for at in range(1, steps_of(run) + 1, stride):
        run(Fate(at=at))


def power_cut(form: str, fate: Fate, *ends: type[LotorError]) -> list[Departure]:
    """All that left the parties of a run with a power cut; some errors may end it."""
    sites = sites_of(form)
    simulation = PowerCuts(sites, Fickle(), fate, seed=fate.at or 0)
    with suppress(*ends):
        simulation.run()
    closed(sites)
    return simulation.sent


@pytest.mark.parametrize("stride", STRIDES)
def test_a_power_cut_at_every_step(form: str, stride: int) -> None:
    for at in range(1, steps_of(lambda fate: power_cut(form, fate)) + 1, stride):
        assert used_twice(power_cut(form, Fate(at=at)), *ONE_USE[form]) == []


@pytest.fixture
def _unsteady(monkeypatch: pytest.MonkeyPatch) -> None:
    """P rounds otherwise each time, as on another machine or with another library."""
    generator, steady = np.random.default_rng(1), LinearGame.rows

    def rows(self: LinearGame, t: int) -> ScoreRows:
        real = steady(self, t)
        return real._replace(u=real.u + generator.integers(-9, 9, real.u.shape))

    monkeypatch.setattr(LinearGame, "rows", rows)


@pytest.mark.usefixtures("_unsteady")
@pytest.mark.parametrize("form", FORMS, indirect=False)
def test_a_p_that_comes_to_other_rows_after_a_crash_sends_none(form: str) -> None:
    """Both under one pad would show their difference: the run ends instead."""
    for at in range(1, steps_of(lambda fate: power_cut(form, fate)) + 1, 13):
        sent = power_cut(form, Fate(at=at), JournalError)
        assert used_twice(sent, ROWS[form], ended_early=True) == []


@pytest.mark.usefixtures("_unsteady")
@pytest.mark.parametrize("form", FORMS, indirect=False)
def test_it_would_use_pads_twice_otherwise(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""

    def unsettled(self: QuestionLog, value: bytes) -> None:
        pass

    monkeypatch.setattr(QuestionLog, "once", unsettled)
    steps = steps_of(lambda fate: power_cut(form, fate))
    for at in range(steps, 0, -3):
        sent = power_cut(form, Fate(at=at), LotorError)
        if used_twice(sent, ROWS[form], ended_early=True):
            return
    pytest.fail("no pad was used twice")

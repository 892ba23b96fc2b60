"""Parties of the new forms that crash, lose power, or are asked again by a fickle world."""

from collections.abc import Callable
from functools import cache

import pytest

import lotor
from crashing import Fate, Simulation, World, samba_sites
from helpers import run_openly
from lotor.core.effects import Message
from lotor.policies import Policy, to_text
from lotor.protocols.samba.shared import messages as shared
from one_use import Departure, used_twice
from power import Fickle, PowerCuts
from rebuilding import RestartingRun
from restarting import Restarting

pytestmark = pytest.mark.usefixtures("light_transfers")

MEANS = [0.2, 0.5, 0.8]
POLICIES = [lotor.UCB(), lotor.ThompsonSampling(), lotor.EpsilonGreedy(0.3), lotor.Pursuit()]
ONE_USE: dict[str, tuple[type[Message], ...]] = {
    "shared": (
        shared.Columns,
        shared.GarbledTables,
        shared.CoveredScores,
        shared.InputLabels,
        shared.ResultBits,
        shared.ResultShares,
    ),
}
FORMS = list(ONE_USE)


@pytest.fixture(params=[1, 3, 16])
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of other sizes, so that their ends fall anywhere."""
    monkeypatch.setattr("lotor.protocols.samba.shared.schedule.MOST_TOGETHER", request.param)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.usefixtures("batch")
def test_restarted_equals_uninterrupted(form: str, policy: Policy, every: int) -> None:
    """From the very first effect on, set-up and first pulls included."""
    samba = lotor.Samba(policy, owners=2, form=form)
    arms, budget = lotor.BernoulliArms(MEANS), 12
    smooth = run_openly(samba, arms, budget=budget, seed=6)
    broken = run_openly(RestartingRun(samba, every), arms, budget=budget, seed=6)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert len(broken.recorder.pulls) == budget
    assert broken.seats["customer"].output == smooth.seats["customer"].output


@cache
def plain(policy: Policy, budget: int) -> lotor.Result:
    return lotor.run(policy, lotor.BernoulliArms(MEANS), budget=budget, seed=6)


def survived(
    form: str, policy: Policy, fate: Fate, budget: int, *, seed: int = 0, cuts: float = 0.0
) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    world = World(MEANS, seed=6)
    sites = samba_sites(policy, len(MEANS), budget, seed=6, owners=2, form=form)
    simulation = Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=bool(seed % 2))
    simulation.run()
    customer = sites["customer"].host
    assert customer is not None
    for site in sites.values():
        site.disk.close()
    expected = plain(policy, budget)
    assert customer.output == expected.reward
    assert [world.arms[t] for t in range(1, budget + 1)] == expected.arms
    assert world.double_pulls == 0
    return simulation.sent


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 10), marks=pytest.mark.long)], ids=["some", "more"]
)
@pytest.mark.usefixtures("batch")
def test_many_crashes_cuts_and_duplicates(form: str, policy: Policy, seeds: range) -> None:
    for seed in seeds:
        fate = Fate(seed, probability=0.004)
        sent = survived(form, policy, fate, 12, seed=seed, cuts=0.02)
        assert used_twice(sent, *ONE_USE[form]) == []
        assert fate.crashes > 0


def every_step(run: Callable[[Fate], object], *, stride: int) -> None:
    fate = Fate()
    run(fate)
    for at in range(1, fate.steps + 1, stride):
        run(Fate(at=at))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_crash_at_every_step(form: str, stride: int) -> None:
    def run(fate: Fate) -> None:
        sent = survived(form, lotor.Pursuit(), fate, 6)
        assert used_twice(sent, *ONE_USE[form]) == []

    every_step(run, stride=stride)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_power_cut_at_every_step_and_a_world_that_answers_otherwise(
    form: str, stride: int
) -> None:
    """Nobody may use a place for two values, whatever becomes of the result."""

    def run(fate: Fate) -> None:
        sites = samba_sites(lotor.UCB(), len(MEANS), 7, seed=6, owners=2, form=form)
        simulation = PowerCuts(sites, Fickle(), fate, seed=fate.at or 0)
        simulation.run()
        for site in sites.values():
            site.disk.close()
        assert used_twice(simulation.sent, *ONE_USE[form]) == []

    every_step(run, stride=stride)

"""Parties of the new forms that crash, lose power, or are asked again by a fickle world."""

from collections.abc import Callable
from functools import cache

import pytest

import lotor
from crashing import Fate, Simulation, World, samba_sites
from helpers import run_openly
from lotor.core.effects import Message
from lotor.policies import Policy, to_text
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.plain import Plain
from lotor.protocols.samba.dealt import messages as dealt
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.shared import messages as shared
from lotor.protocols.samba.shared.owner import SambaSharedOwner
from lotor.protocols.two_server import messages as two_server
from one_use import Departure, used_twice
from power import Fickle, PowerCuts
from rebuilding import RestartingRun
from restarting import Restarting

MEANS = [0.2, 0.5, 0.8]
POLICIES = [lotor.UCB(), lotor.Pursuit()]
ONE_USE: dict[str, tuple[type[Message], ...]] = {
    "shared": (
        garbled.Columns,
        garbled.GarbledTables,
        shared.CoveredScores,
        garbled.InputLabels,
        shared.ResultBits,
        shared.ResultShares,
    ),
    "dealt": (
        dealt.DealtScores,
        dealt.DealtPartialTotal,
        dealt.DealtBits,
        dealt.DealtTotal,
        two_server.Opened,
        two_server.Corrections,
    ),
}
TOLD: dict[tuple[str, str], tuple[type[Message], ...]] = {
    ("shared", "best"): (shared.FinalCodes,),
    ("shared", "counts"): (),
    ("dealt", "best"): (),
    ("dealt", "counts"): (dealt.DealtCounts,),
}
"""What else is to be used once where the customer is told more than the total."""
FORMS = list(ONE_USE)


SIZES = [("shared", 3), ("dealt", None), pytest.param(("shared", 1), marks=pytest.mark.long)]


@pytest.fixture(params=SIZES, ids=str)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each form; the shared one with small batches, so that their ends fall anywhere."""
    name, batch = request.param
    if batch is not None:
        monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", batch)
    return str(name)


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("every", [1, 2])
def test_restarted_equals_uninterrupted(form: str, policy: Policy, every: int) -> None:
    """From the very first effect on, set-up and first pulls included."""
    samba = lotor.Samba(policy, owners=2, form=form)
    arms, budget = lotor.BernoulliArms(MEANS), 10
    smooth = run_openly(samba, arms, budget=budget, seed=6)
    broken = run_openly(RestartingRun(samba, every), arms, budget=budget, seed=6)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert len(broken.recorder.pulls) == budget
    assert broken.seats["customer"].output == smooth.seats["customer"].output


@cache
def plain(policy: Policy, budget: int, reveal: str = "nothing") -> lotor.Result:
    arms, settings = lotor.BernoulliArms(MEANS), {"reveal": reveal}
    return lotor.run(Plain(policy, settings), arms, budget=budget, seed=6)


def survived(
    form: str,
    policy: Policy,
    fate: Fate,
    budget: int,
    *,
    seed: int = 0,
    cuts: float = 0.0,
    reveal: str = "nothing",
) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    world, owners = World(MEANS, seed=6), 2
    sites = samba_sites(policy, len(MEANS), budget, seed=6, owners=owners, form=form, reveal=reveal)
    simulation = Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=bool(seed % 2))
    simulation.run()
    customer = sites["customer"].host
    assert customer is not None
    for site in sites.values():
        site.disk.close()
    expected = plain(policy, budget, reveal)
    assert customer.output == expected.reward
    told = customer.result.revealed
    assert (None if told is None else told.called(None)) == expected.revealed
    assert [world.arms[t] for t in range(1, budget + 1)] == expected.arms
    assert world.double_pulls == 0
    return simulation.sent


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(form: str, policy: Policy, seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.006)
        sent = survived(form, policy, fate, 9, seed=seed, cuts=0.02)
        assert used_twice(sent, *ONE_USE[form]) == []
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def steps_of(run: Callable[[Fate], object]) -> int:
    fate = Fate()
    run(fate)
    return fate.steps


STRIDES = [11, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stride", STRIDES)
def test_a_crash_at_every_step(form: str, stride: int) -> None:
    def run(fate: Fate) -> None:
        sent = survived(form, lotor.Pursuit(), fate, 5)
        assert used_twice(sent, *ONE_USE[form]) == []

    for at in range(1, steps_of(run) + 1, stride):
        run(Fate(at=at))


@pytest.mark.parametrize(("form", "reveal"), TOLD)
@pytest.mark.parametrize("stride", [41, pytest.param(3, marks=pytest.mark.long)])
def test_a_crash_at_every_step_where_the_customer_is_told_more(
    form: str, reveal: str, stride: int
) -> None:
    def run(fate: Fate) -> None:
        sent = survived(form, lotor.UCB(), fate, 5, reveal=reveal)
        assert used_twice(sent, *ONE_USE[form], *TOLD[form, reveal]) == []

    for at in range(1, steps_of(run) + 1, stride):
        run(Fate(at=at))


def power_cut(form: str, fate: Fate, reveal: str = "nothing") -> list[Departure]:
    """All that left the parties of a run with a power cut, in a world that answers otherwise."""
    sites = samba_sites(lotor.UCB(), len(MEANS), 6, seed=6, owners=2, form=form, reveal=reveal)
    simulation = PowerCuts(sites, Fickle(), fate, seed=fate.at or 0)
    simulation.run()
    for site in sites.values():
        site.disk.close()
    return simulation.sent


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stride", STRIDES)
def test_a_power_cut_at_every_step_and_a_world_that_answers_otherwise(
    form: str, stride: int
) -> None:
    """Nobody may use a place for two values, whatever becomes of the result."""
    for at in range(1, steps_of(lambda fate: power_cut(form, fate)) + 1, stride):
        assert used_twice(power_cut(form, Fate(at=at)), *ONE_USE[form]) == []


@pytest.mark.parametrize(("form", "reveal"), TOLD)
@pytest.mark.parametrize("stride", [53, pytest.param(5, marks=pytest.mark.long)])
def test_a_power_cut_where_the_customer_is_told_more(form: str, reveal: str, stride: int) -> None:
    kinds = *ONE_USE[form], *TOLD[form, reveal]
    for at in range(1, steps_of(lambda fate: power_cut(form, fate, reveal)) + 1, stride):
        assert used_twice(power_cut(form, Fate(at=at), reveal), *kinds) == []


@pytest.mark.parametrize(
    ("form", "owner", "scores"),
    [
        ("shared", SambaSharedOwner, shared.CoveredScores),
        ("dealt", SambaDealtOwner, dealt.DealtScores),
    ],
)
def test_rewards_that_are_not_on_the_disk_use_shares_twice(
    form: str, owner: type, scores: type[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above would notice."""
    monkeypatch.setattr(owner, "masked", False)
    steps = steps_of(lambda fate: power_cut(form, fate))
    assert any(used_twice(power_cut(form, Fate(at=at)), scores) for at in range(steps, 0, -3))

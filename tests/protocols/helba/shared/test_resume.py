"""Parties of the shared form crash, lose power, and are asked again by a fickle world."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import count

import pytest

import lotor
from crashing import Fate, Simulation, Site
from helpers import run_openly
from lotor.core.effects import Message, Observe
from lotor.core.errors import LotorError
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.shared import messages
from lotor.protocols.party import Run
from lotor.runtime.durable.questions import Question, QuestionLog
from lotor.runtime.durable.record import Answer
from one_use import Departure, used_twice
from power import PowerCuts
from protocols.helba.shared.stage import QUADRATIC
from rebuilding import RestartingRun, rebuildable
from restarting import Restarting

BUDGET, SEED = 4, 6
TOY = lotor.LinearContexts.toy(12, seed=5)
ROOT = BatchedOFUL(index="sqrt", eta=0.5)
ONE_USE: tuple[type[Message], ...] = (
    garbled.Columns,
    garbled.GarbledTables,
    garbled.DecodingTable,
    garbled.InputLabels,
    messages.ProductColumns,
    messages.CoveredUpdate,
    messages.EstimateWords,
    messages.CoveredEstimate,
    messages.ContextWords,
    messages.CoveredShares,
)


@pytest.fixture(autouse=True, params=[2, pytest.param(1, marks=pytest.mark.long)], ids=str)
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small batches, so that their ends fall anywhere."""
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", request.param)
    size: int = request.param
    return size


@pytest.mark.parametrize(
    ("policy", "every"),
    [
        (QUADRATIC, 1),
        (BatchedOFUL(eta=1.0), 2),
        (ROOT, 3),
        pytest.param(ROOT, 1, marks=pytest.mark.long),
    ],
)
def test_restarted_equals_uninterrupted(policy: BatchedOFUL, every: int) -> None:
    """From the very first effect on, the set-up included."""
    helba = lotor.Helba(policy)
    smooth = run_openly(helba, TOY, budget=BUDGET, seed=SEED)
    broken = run_openly(RestartingRun(helba, every), TOY, budget=BUDGET, seed=SEED)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert broken.seats["user"].output == smooth.seats["user"].output


class Steady:
    """Answers by decision; who asks for a reward a second time without saying so pulls twice."""

    def __init__(self) -> None:
        self._pull = TOY.start(SEED)
        self.arms: dict[int, int] = {}
        self.double_pulls = 0

    def answer(self, asked: Question) -> Answer:
        decision = asked.decision
        assert decision is not None
        if isinstance(asked.effect, Observe):
            return tuple(TOY.context(decision.round).tolist())
        self.double_pulls += decision.round in self.arms and not asked.again
        self.arms[decision.round] = decision.arm
        return self._pull(decision)


class FickleContexts:
    """A world that answers otherwise each time."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def answer(self, asked: Question) -> Answer:
        value = next(self._numbers) / 128
        if isinstance(asked.effect, Observe):
            return tuple((value * place) % 2 - 1 for place in (1, 3, 5, 7))
        return value


def sites_of() -> dict[str, Site]:
    run = Run("aa", TOY.k, BUDGET, RewardScale(*TOY.reward_range), SEED, TOY, 1)
    made = rebuildable(lotor.Helba(), run)
    return {name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()}


@cache
def plain() -> lotor.Result:
    return lotor.run(lotor.Helba().plain(), TOY, budget=BUDGET, seed=SEED)


def survived(fate: Fate, *, seed: int = 0, cuts: float = 0.0) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    sites, world = sites_of(), Steady()
    simulation = Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=bool(seed % 2))
    simulation.run()
    user = sites["user"].host
    assert user is not None
    assert user.output == plain().reward
    assert [world.arms[t] for t in range(1, BUDGET + 1)] == plain().arms
    assert world.double_pulls == 0
    closed(sites)
    return simulation.sent


def closed(sites: dict[str, Site]) -> None:
    for site in sites.values():
        site.disk.close()


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 10), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.01)
        assert used_twice(survived(fate, seed=seed, cuts=0.02), *ONE_USE) == []
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def steps_of(run: Callable[[Fate], object]) -> int:
    fate = Fate()
    run(fate)
    return fate.steps


STRIDES = [19, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("stride", STRIDES)
def test_a_crash_at_every_step(stride: int, batch: int) -> None:
    def run(fate: Fate) -> None:
        assert used_twice(survived(fate), *ONE_USE) == []

    for at in range(batch, steps_of(run) + 1, stride):
        run(Fate(at=at))


def power_cut(fate: Fate, *ends: type[LotorError]) -> list[Departure]:
    """All that left the parties of a run with a power cut, in a world that answers otherwise."""
    sites = sites_of()
    simulation = PowerCuts(sites, FickleContexts(), fate, seed=fate.at or 0)
    with suppress(*ends):
        simulation.run()
    closed(sites)
    return simulation.sent


@pytest.mark.parametrize("stride", STRIDES)
def test_a_power_cut_at_every_step_and_a_world_that_answers_otherwise(
    stride: int, batch: int
) -> None:
    """Nobody may use a place for two values, whatever becomes of the result."""
    for at in range(batch, steps_of(power_cut) + 1, stride):
        assert used_twice(power_cut(Fate(at=at)), *ONE_USE) == []


def test_contexts_that_are_not_on_the_disk_use_rows_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""

    def unsettled(self: QuestionLog, value: bytes) -> None:
        pass

    monkeypatch.setattr(QuestionLog, "once", unsettled)
    monkeypatch.setattr(Question, "masked", property(lambda self: False))
    kinds = {messages.ContextWords, messages.CoveredUpdate}
    for at in range(steps_of(power_cut), 0, -3):
        sent = power_cut(Fate(at=at), LotorError)
        kinds -= {kind for kind in kinds if used_twice(sent, kind)}
        if not kinds:
            return
    pytest.fail(f"no place was used twice for {kinds}")

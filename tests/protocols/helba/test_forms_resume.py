"""Parties of both forms on shares crash, lose power, and are asked again by a fickle world."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import count
from typing import NamedTuple

import pytest

import lotor
from crashing import Fate, Simulation, Site
from helpers import run_openly
from lotor.core.effects import Message, Observe
from lotor.core.errors import LotorError
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL, WholeIndex
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.shared import messages as one
from lotor.protocols.helba.two_servers import messages as two
from lotor.protocols.helba.two_servers.pad_server import HelbaTwoServersPadServer
from lotor.protocols.helba.two_servers.server import HelbaTwoServersServer
from lotor.protocols.party import Run
from lotor.runtime.drive import drive
from lotor.runtime.durable.questions import Question, QuestionLog
from lotor.runtime.durable.record import Answer
from lotor.runtime.pulls import features
from lotor.transport import MemoryTransport
from one_use import Departure, used_twice
from power import PowerCuts
from rebuilding import RestartingRun, rebuildable
from restarting import Restarting

BUDGET, SEED = 4, 6
TOY = lotor.LinearContexts.toy(12, seed=5)
ROOT = BatchedOFUL(index="sqrt", eta=0.5)
CIRCUITS: tuple[type[Message], ...] = (
    garbled.Columns,
    garbled.GarbledTables,
    garbled.DecodingTable,
    garbled.InputLabels,
)


class Case(NamedTuple):
    """A form: which messages have a place for one content, and which depend on the world alone."""

    helba: lotor.Helba
    one_use: tuple[type[Message], ...]
    of_world: frozenset[type[Message]]
    stride: int

    def __repr__(self) -> str:
        return self.helba.form

    def run(self) -> Run:
        return Run("aa", TOY.k, BUDGET, RewardScale(*TOY.reward_range), SEED, TOY, 1)

    def sites(self) -> dict[str, Site]:
        made = rebuildable(self.helba, self.run())
        return {
            name: Site(name, each.party, each.rebuild, list(each.peers))
            for name, each in made.items()
        }


SHARED = Case(
    lotor.Helba(),
    (
        *CIRCUITS,
        one.ProductColumns,
        one.CoveredUpdate,
        one.EstimateWords,
        one.CoveredEstimate,
        one.ContextWords,
        one.CoveredShares,
    ),
    frozenset({one.ContextWords, one.CoveredUpdate}),
    stride=19,
)
TWO_SERVERS = Case(
    lotor.Helba(servers=2, users=3),
    (
        *CIRCUITS,
        two.RenewalColumns,
        two.PadWords,
        two.PaddedEstimate,
        two.ModelWords,
        two.ScoreColumns,
        two.PaddedContexts,
        two.ScoreWords,
        two.ScoreDifferences,
        two.PaddedUpdate,
        two.PaddedTotal,
    ),
    frozenset({two.PaddedContexts, two.PaddedUpdate}),
    stride=37,
)
cases = pytest.mark.parametrize("case", [SHARED, TWO_SERVERS], ids=repr)


@pytest.fixture(autouse=True, params=[2, pytest.param(1, marks=pytest.mark.long)], ids=str)
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small batches, so that their ends fall anywhere."""
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", request.param)
    size: int = request.param
    return size


@pytest.mark.parametrize(
    ("helba", "every"),
    [
        (lotor.Helba(), 1),
        (lotor.Helba(BatchedOFUL(eta=1.0)), 2),
        (lotor.Helba(ROOT), 3),
        (lotor.Helba(servers=2), 1),
        (lotor.Helba(ROOT, servers=2), 3),
        pytest.param(lotor.Helba(ROOT), 1, marks=pytest.mark.long),
        pytest.param(lotor.Helba(BatchedOFUL(eta=1.0), servers=2), 2, marks=pytest.mark.long),
    ],
)
def test_restarted_equals_uninterrupted(helba: lotor.Helba, every: int) -> None:
    """From the very first effect on, the set-up included."""
    smooth = run_openly(helba, TOY, budget=BUDGET, seed=SEED)
    broken = run_openly(RestartingRun(helba, every), TOY, budget=BUDGET, seed=SEED)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert broken.seats[helba.learner].output == smooth.seats[helba.learner].output


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


@cache
def plain() -> lotor.Result:
    return lotor.run(lotor.Helba().plain(), TOY, budget=BUDGET, seed=SEED)


def survived(case: Case, fate: Fate, *, seed: int = 0, cuts: float = 0.0) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    sites, world = case.sites(), Steady()
    simulation = Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=bool(seed % 2))
    simulation.run()
    learner = sites[case.helba.learner].host
    assert learner is not None
    assert learner.output == plain().reward
    assert [world.arms[t] for t in range(1, BUDGET + 1)] == plain().arms
    assert world.double_pulls == 0
    closed(sites)
    return simulation.sent


def closed(sites: dict[str, Site]) -> None:
    for site in sites.values():
        site.disk.close()


@cases
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(case: Case, seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.01)
        assert used_twice(survived(case, fate, seed=seed, cuts=0.02), *case.one_use) == []
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def steps_of(run: Callable[[Fate], object]) -> int:
    fate = Fate()
    run(fate)
    return fate.steps


EVERY = [False, pytest.param(True, marks=pytest.mark.long)]


@cases
@pytest.mark.parametrize("every", EVERY, ids=["some", "every"])
def test_a_crash_at_every_step(case: Case, every: bool, batch: int) -> None:
    def run(fate: Fate) -> None:
        assert used_twice(survived(case, fate), *case.one_use) == []

    for at in range(batch, steps_of(run) + 1, case.stride // 18 if every else case.stride):
        run(Fate(at=at))


def power_cut(case: Case, fate: Fate, *ends: type[LotorError]) -> list[Departure]:
    """All that left the parties of a run with a power cut, in a world that answers otherwise."""
    sites = case.sites()
    simulation = PowerCuts(sites, FickleContexts(), fate, seed=fate.at or 0)
    with suppress(*ends):
        simulation.run()
    closed(sites)
    return simulation.sent


@cases
@pytest.mark.parametrize("every", EVERY, ids=["some", "every"])
def test_a_power_cut_at_every_step_and_a_world_that_answers_otherwise(
    case: Case, every: bool, batch: int
) -> None:
    """Nobody may use a place for two values, whatever becomes of the result."""
    last = steps_of(partial(power_cut, case))
    for at in range(batch, last + 1, case.stride // 18 if every else case.stride):
        assert used_twice(power_cut(case, Fate(at=at)), *case.one_use) == []


@cases
def test_contexts_that_are_not_on_the_disk_use_rows_and_pads_twice(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above would notice."""

    def unsettled(self: QuestionLog, value: bytes) -> None:
        pass

    monkeypatch.setattr(QuestionLog, "once", unsettled)
    monkeypatch.setattr(Question, "masked", property(lambda self: False))
    kinds = set(case.of_world)
    for at in range(steps_of(partial(power_cut, case)), 0, -3):
        sent = power_cut(case, Fate(at=at), LotorError)
        kinds -= {kind for kind in kinds if used_twice(sent, kind)}
        if not kinds:
            return
    pytest.fail(f"no place was used twice for {kinds}")


def test_no_server_of_two_computes_what_differs_between_machines() -> None:
    """Factors come from floats: restarted elsewhere, a server might not come to the same bytes."""

    class Factorless(WholeIndex):
        def factor(self, t: int, start: int) -> int:
            raise AssertionError("a server computed a factor")

    parties = TWO_SERVERS.helba.parties(TWO_SERVERS.run())
    for name in ("server", "pad-server"):
        party = parties[name]
        assert isinstance(party, HelbaTwoServersServer | HelbaTwoServersPadServer)
        setting = party._setting
        assert setting.widths  # a function of d
        index = Factorless(setting.policy, setting.terms.grid, setting.terms.d)
        setting.__dict__["index"] = index
    found = drive(parties, MemoryTransport(), TOY.start(SEED), observe=partial(features, TOY))
    assert found["customer"].output == plain().reward

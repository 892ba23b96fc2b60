"""Parties crash, lose power, and are asked again by a fickle world: no place has two payloads."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import count

import pytest

import lotor
from crashing import CrashError, Fate, Simulation, Site
from helpers import run_openly
from lotor.core.effects import Act, Message, Observe, Once, Send
from lotor.core.errors import LotorError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.dealerless.messages import (
    Choices,
    Differences,
    Labels,
    OfferedWords,
    PreparedTables,
)
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.party import Run
from lotor.protocols.ppcb.messages import Features, Reward
from lotor.protocols.ppcb.terms import SECOND
from lotor.protocols.two_server.messages import Opened
from lotor.runtime.durable.questions import Question, QuestionLog
from lotor.runtime.durable.record import Answer
from one_use import Departure, used_twice
from power import PowerCuts
from protocols.ppcb.stage import SERVERS, some_arms, watched
from rebuilding import RestartingRun, rebuildable
from restarting import Restarting

BUDGET, SEED = 5, 6
ARMS = some_arms(3, rounds=BUDGET, k=3, d=2)
ONE_USE = (
    *(Choices, OfferedWords, PreparedTables, Opened, Differences, Labels),
    *(DecodingTable, ShownOutputs, Features, Reward),
)
AT_ONCE = lotor.PPCB(epsilon=0.3)
LATE = lotor.PPCB(epsilon=0.3, delay=2, keep=True)
GARBLED = lotor.PPCB(epsilon=0.3, reciprocal="garbled")
protocols = pytest.mark.parametrize(
    "protocol",
    [AT_ONCE, LATE, pytest.param(GARBLED, marks=pytest.mark.long)],
    ids=["at once", "late", "garbled"],
)


@pytest.fixture(autouse=True)
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small batches, so that their ends fall anywhere."""
    size: int = getattr(request, "param", 2)
    monkeypatch.setattr("lotor.protocols.dealerless.schedule.MOST_TOGETHER", size)
    return size


batches = pytest.mark.parametrize(
    "batch", [2, pytest.param(1, marks=pytest.mark.long)], indirect=True
)


@cache
def plain(protocol: lotor.PPCB) -> lotor.Result:
    return lotor.run(protocol.plain(), ARMS, budget=BUDGET, seed=SEED)


@pytest.mark.parametrize(
    ("protocol", "every"),
    [
        (LATE, 13),
        *(
            pytest.param(protocol, every, marks=pytest.mark.long)
            for protocol, every in ((AT_ONCE, 2), (AT_ONCE, 9), (LATE, 3), (GARBLED, 4))
        ),
    ],
)
def test_restarted_equals_uninterrupted(protocol: lotor.PPCB, every: int) -> None:
    """From the very first effect on, the set-up included."""
    broken = run_openly(RestartingRun(protocol, every), ARMS, budget=BUDGET, seed=SEED)  # type: ignore[arg-type]
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert [seen.arm for _, seen in broken.recorder.acts] == plain(protocol).arms
    assert broken.seats["receiver"].output == plain(protocol).reward


class Steady:
    """Answers by decision; whoever acts a second time without saying so does it twice."""

    def __init__(self) -> None:
        self._pull = ARMS.start(SEED)
        self.rewards: dict[str, float] = {}
        self.arms: dict[int, int] = {}
        self.double_pulls = 0

    def answer(self, asked: Question) -> Answer:
        decision = asked.decision
        assert decision is not None
        if isinstance(asked.effect, Observe):
            low, high = asked.effect.columns
            return tuple(ARMS.context(decision.round)[low:high].tolist())
        if isinstance(asked.effect, Act):
            self.double_pulls += decision.round in self.arms and not asked.again
            self.arms[decision.round] = decision.arm
            self.rewards[decision.id] = self._pull(decision)
        return self.rewards[decision.id]


class Fickle:
    """A world that answers otherwise each time."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def answer(self, asked: Question) -> Answer:
        value = next(self._numbers) / 4096
        if isinstance(asked.effect, Observe):
            low, high = asked.effect.columns
            return tuple(value / (1 + place) for place in range(low, high))
        return value


def sites_of(protocol: lotor.PPCB) -> dict[str, Site]:
    run = Run("aa", ARMS.k, BUDGET, RewardScale(*ARMS.reward_range), SEED, ARMS, 1)
    made = rebuildable(protocol, run)
    return {
        name: Site(name, each.party, each.rebuild, list(each.peers)) for name, each in made.items()
    }


def closed(sites: dict[str, Site]) -> None:
    for site in sites.values():
        site.disk.close()


def survived(
    protocol: lotor.PPCB, fate: Fate, *, seed: int = 0, cuts: float = 0.0
) -> list[Departure]:
    """All that left the parties of a run, which equals plain."""
    sites, world = sites_of(protocol), Steady()
    simulation = Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=bool(seed % 2))
    simulation.run()
    receiver = sites["receiver"].host
    assert receiver is not None
    assert receiver.output == plain(protocol).reward
    assert [world.arms[t] for t in range(1, BUDGET + 1)] == plain(protocol).arms
    assert world.double_pulls == 0
    closed(sites)
    return simulation.sent


@protocols
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 6), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(protocol: lotor.PPCB, seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.002)
        assert used_twice(survived(protocol, fate, seed=seed, cuts=0.001), *ONE_USE) == []
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def power_cut(protocol: lotor.PPCB, fate: Fate, *ends: type[LotorError]) -> list[Departure]:
    """All that left the parties of a run with a power cut, in a world that answers otherwise."""
    sites = sites_of(protocol)
    simulation = PowerCuts(sites, Fickle(), fate, seed=fate.at or 0)
    with suppress(*ends):
        simulation.run()
    closed(sites)
    return simulation.sent


@cache
def steps_of(protocol: lotor.PPCB, batch: int) -> int:
    fate = Fate()
    power_cut(protocol, fate)
    return fate.steps


@protocols
@batches
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=str)
def test_a_power_cut_at_any_step_and_a_world_that_answers_otherwise(
    protocol: lotor.PPCB, every: bool, batch: int
) -> None:
    """Nobody may use a place for two values, whatever becomes of the result."""
    for at in range(batch, steps_of(protocol, batch) + 1, 31 if every else 307):
        sent = power_cut(protocol, Fate(at=at))
        assert used_twice(sent, *ONE_USE, ended_early=True) == []


ON_ONE_MACHINE = (SECOND, "owner-1", "receiver")


class OneMachine(PowerCuts):
    """The second server and two who bring inputs lose their power together."""

    def _survive(self, site: Site, action: Callable[[], None]) -> None:
        super()._survive(site, action)
        if site.host is None and site.name in ON_ONE_MACHINE:
            for other in (self.sites[name] for name in ON_ONE_MACHINE):
                if other.host is not None:
                    super()._survive(other, _lose_power)


def _lose_power() -> None:
    raise CrashError


OF_INPUTS: set[type[Message]] = {Features, Reward}
OF_SERVERS: set[type[Message]] = {Opened, Differences, Labels}


@pytest.mark.long
@pytest.mark.parametrize("announced", [True, False])
def test_inputs_that_are_not_on_the_disk_use_places_twice(
    announced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above would notice; but a server that announces its inputs opens nothing
    else, and ends the run."""

    def unsettled(self: QuestionLog, value: bytes) -> None:
        pass

    monkeypatch.setattr(Question, "masked", property(lambda self: False))
    if not announced:
        monkeypatch.setattr(QuestionLog, "once", unsettled)
    found: set[type[Message]] = set()
    for at in range(700, 2_000, 19):
        sites = sites_of(AT_ONCE)
        simulation = OneMachine(sites, Fickle(), Fate(at=at), seed=at)
        with suppress(LotorError):
            simulation.run()
        closed(sites)
        kinds = OF_INPUTS | OF_SERVERS
        found |= {kind for kind in kinds if used_twice(simulation.sent, kind, ended_early=True)}
    assert found & OF_INPUTS
    assert bool(found & OF_SERVERS) != announced


def test_every_step_announces_its_inputs_before_it_opens_anything() -> None:
    """Once for the context and once for the reward at each server, and labels where it garbles."""
    _, watches = watched(AT_ONCE, ARMS, budget=BUDGET)
    announced = {
        name: [done.effect.value for done in watches[name].done if isinstance(done.effect, Once)]
        for name in SERVERS
    }
    assert sum(map(len, announced.values())) == BUDGET * (2 + 2 + 1)
    assert all(len(set(values)) == len(values) for values in announced.values())
    for name in SERVERS:
        inputs = 0
        for done in watches[name].done:
            inputs += isinstance(done.effect, Once) and b"context" in done.effect.value
            if isinstance(done.effect, Send) and isinstance(done.effect.message, Opened):
                assert int.from_bytes(done.effect.message.place[:8], "big") == inputs

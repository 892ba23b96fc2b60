"""HELBA's parties die at any step and connections are cut: nothing is lost or noised twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

import lotor
from crashing import Fate, Simulation, Site
from lotor.core.effects import Observe
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper import server_state, wire
from lotor.protocols.helba.paper.authority import HelbaAuthority
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.helba.paper.user import HelbaUser
from lotor.protocols.party import Party, Run
from lotor.runtime.durable.frames import Data, RunFrame
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer
from lotor.runtime.pulls import features
from protocols.helba.stage import paper, small

ROUNDS, SEED = 3, 1
TOY = lotor.LinearContexts.toy(ROUNDS, seed=5)
HELBA = small(BatchedOFUL(eta=0.5), stages=2)
ROOT = small(paper(1.0, 2.0))
PEERS = {"user": ["server"], "server": ["user", "key-authority"], "key-authority": ["server"]}


class Patients:
    """The user's world, which recognises what it was asked before."""

    def __init__(self) -> None:
        self._pull = TOY.start(SEED)
        self.arms: dict[int, int] = {}

    def answer(self, asked: Question) -> Answer:
        decision = asked.decision
        assert decision is not None
        if isinstance(asked.effect, Observe):
            return features(TOY, asked.effect)
        # The same arm, however often it is asked.
        assert self.arms.setdefault(decision.round, decision.arm) == decision.arm
        return self._pull(decision)


def rebuild(party: Party, snapshot: bytes) -> Party:
    if isinstance(party, HelbaServer):
        return type(party)(party._setting, party._state.store, snapshot=snapshot)
    assert isinstance(party, HelbaUser | HelbaAuthority)
    return type(party)(party._identity, party._setting, party._store, snapshot=snapshot)


def sites(helba: lotor.Helba) -> dict[str, Site]:
    low, high = TOY.reward_range
    run = Run("aa", TOY.k, ROUNDS, RewardScale(low, high), SEED, TOY, 1)
    parties = helba.parties(run)
    return {
        name: Site(name, party, partial(rebuild, party), PEERS[name])
        for name, party in parties.items()
    }


class Watched(Simulation):
    """Notes the answers that leave the server, and thinks at once."""

    def __init__(self, fate: Fate, cuts: float, seed: int, helba: lotor.Helba = HELBA) -> None:
        self.patients = Patients()
        self.helba = helba
        super().__init__(sites(helba), self.patients, fate, seed=seed, cuts=cuts, repeatable=True)
        self.choices: dict[int, set[bytes]] = {}

    def _handle(self, site: Site, sender: str, frame: RunFrame) -> None:
        if isinstance(frame, Data) and b"helba/2/choice" in frame.payload[:20]:
            self.choices.setdefault(frame.seq, set()).add(frame.payload)
        super()._handle(site, sender, frame)

    def _advance(self, site: Site) -> None:
        super()._advance(site)
        while site.host is not None and site.host.background_step is not None:
            self.fate.step()
            site.host.background_step.run()
            super()._advance(site)


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PART_BYTES", 100_000)
    monkeypatch.setattr(wire, "WINDOW_BYTES", 300_000)
    monkeypatch.setattr(server_state, "REWRITE_ROUNDS", 2)


@contextmanager
def floods(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How often the server has drawn noise."""
    drawn: list[int] = []
    flood = vars(server_state)["flood"]

    def counted(*args: object) -> object:
        drawn.append(1)
        return flood(*args)

    with monkeypatch.context() as patch:
        patch.setattr(server_state, "flood", counted)
        yield drawn


def check(simulation: Watched) -> None:
    plain = lotor.run(simulation.helba.plain(), TOY, budget=ROUNDS, seed=SEED)
    assert [simulation.patients.arms[t] for t in range(1, ROUNDS + 1)] == plain.arms
    host = simulation.sites["user"].host
    assert host is not None
    assert host.output == plain.reward
    assert len(simulation.choices) == ROUNDS
    # However often a choice was sent, it was the same to the last byte.
    assert all(len(sent) == 1 for sent in simulation.choices.values())


def whole() -> int:
    """How many steps there are at which somebody can die."""
    simulation = Watched(Fate(), 0.0, 0)
    simulation.run()
    check(simulation)
    return simulation.fate.steps


def test_a_death_at_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """At many places from the first to the last; noise is drawn again only for what never left."""
    steps = whole()
    assert steps > 200
    for at in range(1, steps, steps // 8):
        with floods(monkeypatch) as drawn:
            simulation = Watched(Fate(at=at), 0.0, at)
            simulation.run()
        check(simulation)
        assert simulation.fate.crashes == 1
        assert ROUNDS <= len(drawn) <= ROUNDS + 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_deaths_and_cut_connections(seed: int) -> None:
    simulation = Watched(Fate(seed, probability=0.015), 0.05, seed)
    simulation.run()
    check(simulation)
    assert simulation.fate.crashes > 0


@pytest.mark.long
def test_a_death_at_every_step() -> None:
    for at in range(1, whole() + 1):
        simulation = Watched(Fate(at=at), 0.0, at)
        simulation.run()
        check(simulation)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_deaths_with_the_papers_index(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "WINDOW_BYTES", 700_000)
    simulation = Watched(Fate(seed, probability=0.015), 0.05, seed, ROOT)
    simulation.run()
    check(simulation)
    assert simulation.fate.crashes > 0

"""What is carried out, observed or durable by itself survives a crash at any step, too."""

from collections.abc import Callable
from contextlib import suppress

import msgspec
import pytest

from crashing import Fate, HangError, Simulation, Site
from lotor.core.effects import Checkpoint
from lotor.core.errors import LotorError
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.record import Answer, RunRecord
from split import PEERS, SplitParty, SplitWorld, rebuilder

BUDGET = 4


def simulated(fate: Fate, *, seed: int = 0, cuts: float = 0.0, repeatable: bool = False) -> None:
    """A run that is right, in every respect."""
    sites = {
        seat: Site(seat, SplitParty(seat, BUDGET), rebuilder(seat, BUDGET), peers)
        for seat, peers in PEERS.items()
    }
    world = SplitWorld(BUDGET)
    try:
        Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=repeatable).run()
        arms, total = world.expected()
        assert [world.arms[t] for t in range(1, BUDGET + 1)] == arms
        assert world.double_pulls == 0
        for seat in ("server", "receiver"):
            host = sites[seat].host
            assert host is not None
            assert host.output == total
    finally:
        for site in sites.values():
            site.disk.close()


@pytest.mark.parametrize("repeatable", [False, True])
def test_a_crash_at_each_step(repeatable: bool) -> None:
    fate = Fate()
    simulated(fate, repeatable=repeatable)
    assert fate.steps > 250
    for at in range(1, fate.steps + 1):
        fate = Fate(at=at)
        simulated(fate, repeatable=repeatable)
        assert fate.crashes == 1


@pytest.mark.parametrize("rounds", [1, 2, 32])
def test_many_crashes_cuts_and_duplicates(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
    crashes = 0
    for seed in range(40):
        fate = Fate(seed, probability=0.02)
        simulated(fate, seed=seed, cuts=0.02, repeatable=seed % 2 == 0)
        crashes += fate.crashes
    assert crashes > 100


def not_durable(patch: pytest.MonkeyPatch) -> None:
    boundary = Host._boundary

    def careless(host: Host, checkpoint: Checkpoint) -> None:
        boundary(host, msgspec.structs.replace(checkpoint, durable=False))

    patch.setattr(Host, "_boundary", careless)


def no_intent(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunRecord, "intend", lambda *_: None)


def no_answer(patch: pytest.MonkeyPatch) -> None:
    """What was observed is not kept: it is asked for again, or left out."""

    def answer(record: RunRecord, number: int, answer: Answer) -> None:
        write(record, number, None)

    write = RunRecord.answer
    patch.setattr(RunRecord, "answer", answer)


@pytest.mark.parametrize("broken", [not_durable, no_intent, no_answer])
def test_no_rule_can_be_left_out(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    wrong = 0
    for seed in range(40):
        with suppress(AssertionError, HangError, LotorError, msgspec.ValidationError, TypeError):
            simulated(Fate(seed, probability=0.02), seed=seed, cuts=0.02)
            continue
        wrong += 1
    assert wrong > 0

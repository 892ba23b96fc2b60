"""A crash of any party at any effect changes nothing, and no mask ever covers two values."""

from collections.abc import Callable
from contextlib import suppress

import pytest

import lotor
from crashing import Answers, Fate, Simulation, World
from helpers import run_openly
from lotor.core.effects import Checkpoint, Effect, Message, Once, Receive, Send, Steps
from lotor.core.errors import LotorError
from lotor.policies import Policy
from lotor.protocols.party import Party
from lotor.protocols.samba.dealt.messages import (
    DealtBits,
    DealtPartialTotal,
    DealtScores,
    DealtTotal,
)
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.two_server.messages import Corrections, Opened
from lotor.runtime.durable import host as host_module
from one_use import Departure, used_twice
from power import Fickle, PowerCuts
from protocols.samba.dealt.stage import dealt, dealt_sites

MEANS = [0.3, 0.8]
SEED = 6
INPUTS = (DealtScores, DealtPartialTotal)
KINDS: tuple[type[Message], ...] = (*INPUTS, Opened, Corrections, DealtBits, DealtTotal)
"""All that carries shares."""


def play(
    kind: Callable[..., Simulation],
    samba: lotor.Samba,
    size: tuple[int, int],
    world: Answers,
    fate: Fate,
    seed: int = 0,
) -> tuple[object, list[Departure], LotorError | None]:
    """The customer's result, all that ever left a party, and what stopped the run.

    `size` is K and N.
    """
    sites = dealt_sites(samba, *size, seed=SEED)
    simulation, stopped = kind(sites, world, fate, seed=seed), None
    try:
        simulation.run()
    except LotorError as error:
        stopped = error
    finally:
        for site in sites.values():
            site.disk.close()
    customer = sites["customer"].host
    return customer and customer.output, simulation.sent, stopped


def check_equals_plain(policy: Policy, budget: int, fate: Fate, seed: int = 0) -> None:
    world = World(MEANS, seed=SEED)
    size = len(MEANS), budget
    total, sent, stopped = play(Simulation, dealt(policy, 2), size, world, fate, seed)
    assert stopped is None
    plain = lotor.run(policy, lotor.BernoulliArms(MEANS), budget=budget, seed=SEED)
    assert total == plain.reward
    assert [world.arms[t] for t in range(1, budget + 1)] == plain.arms
    assert world.double_pulls == 0
    assert used_twice(sent, *KINDS) == []


def test_a_crash_at_each_effect() -> None:
    fate = Fate()
    check_equals_plain(lotor.UCB(), 3, fate)
    assert fate.steps > 150
    for at in range(1, fate.steps + 1):
        check_equals_plain(lotor.UCB(), 3, Fate(at=at))


@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("policy", [lotor.ThompsonSampling(), lotor.Pursuit()], ids=str)
def test_many_crashes(policy: Policy, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
    crashes = 0
    for seed in range(4):
        fate = Fate(seed, probability=0.01)
        check_equals_plain(policy, 9, fate, seed)
        crashes += fate.crashes
    assert crashes > 10


def cut_at(at: int | None) -> tuple[Fate, list[Departure], LotorError | None]:
    """A run with one power cut, in a world that answers otherwise each time it is asked."""
    fate = Fate(at=at)
    # In the second round that is scored, scores depend on what the world has answered in the first.
    return fate, *play(PowerCuts, dealt(lotor.UCB(), 2), (len(MEANS), 4), Fickle(), fate)[1:]


def test_a_power_cut_at_each_effect_and_another_answer_put_no_two_values_under_one_mask() -> None:
    steps = cut_at(None)[0].steps
    for at in range(1, steps + 1):
        _, sent, stopped = cut_at(at)
        assert stopped is None
        assert used_twice(sent, *KINDS) == []


def test_an_owner_that_settles_nothing_uses_masks_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""
    whole = SambaDealtOwner.steps

    def unsettled(self: SambaDealtOwner) -> Steps[None]:
        steps, value = whole(self), None
        with suppress(StopIteration):
            while True:
                effect = steps.send(value)
                value = None if isinstance(effect, Once) else (yield effect)

    monkeypatch.setattr(SambaDealtOwner, "steps", unsettled)
    found = []
    for at in range(1, cut_at(None)[0].steps, 2):
        found += used_twice(cut_at(at)[1], DealtScores)
    assert found


class Watched(Party):
    """Keeps every effect of a party, but for its checkpoints."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.effects: list[Effect] = []

    def steps(self) -> Steps[object]:
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if not isinstance(effect, Checkpoint):
                self.effects.append(effect)
            value = yield effect


@pytest.fixture(scope="module")
def watched() -> dict[str, Watched]:
    watches: dict[str, Watched] = {}
    run_openly(
        dealt(lotor.Pursuit(), 2),
        lotor.BernoulliArms(MEANS),
        budget=8,
        wrap=lambda name, party: watches.setdefault(name, Watched(party)),
    )
    return watches


def test_an_owner_settles_what_it_shares_just_before_it_leaves(watched: dict[str, Watched]) -> None:
    effects = watched["owner-1"].effects
    before = [
        effects[number - 1]
        for number, effect in enumerate(effects)
        if isinstance(effect, Send) and isinstance(effect.message, INPUTS)
    ]
    assert len(before) == 6 * 2 + 1
    assert all(isinstance(effect, Once) for effect in before)
    assert sum(isinstance(effect, Once) for effect in effects) == len(before)


def test_comp_settles_what_it_was_sent_before_it_opens_anything(
    watched: dict[str, Watched],
) -> None:
    settled, unsettled = 0, False
    for effect in watched["comp"].effects:
        if isinstance(effect, Receive):
            unsettled = unsettled or effect.kind in INPUTS
        elif isinstance(effect, Once):
            assert unsettled
            settled, unsettled = settled + 1, False
        elif isinstance(effect, Send):
            assert not unsettled
    assert settled == 6 * 2 + 1


def test_controller_and_dealer_are_brought_no_inputs(watched: dict[str, Watched]) -> None:
    """What they send is a function of their keys, and of what Comp opens."""
    for name in ("controller", "dealer"):
        kinds = {effect.kind for effect in watched[name].effects if isinstance(effect, Receive)}
        assert not kinds & set(INPUTS)

"""What the dealt form settles before a share leaves, so that no mask covers two values."""

import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Effect, Once, Receive, Send, Steps
from lotor.protocols.party import Party
from lotor.protocols.samba.dealt.messages import (
    DealtPartialTotal,
    DealtScores,
)
from protocols.samba.dealt.stage import dealt

MEANS = [0.3, 0.8]
INPUTS = (DealtScores, DealtPartialTotal)


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

"""A party rebuilt from its checkpoint goes on as if nothing had happened."""

from collections.abc import Callable, Mapping

import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Steps
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.samba.comp import Comp
from lotor.protocols.samba.controller import Controller
from lotor.protocols.samba.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

POLICIES = [lotor.UCB(), lotor.ThompsonSampling(), lotor.EpsilonGreedy(0.3), lotor.Pursuit()]


class Restarting:
    """Forgets everything at every third checkpoint and starts again from the snapshot."""

    def __init__(self, party: Party, rebuild: Callable[[bytes], Party]) -> None:
        self._party = party
        self._rebuild = rebuild
        self.restarts = 0

    def operations(self) -> Mapping[str, int]:
        return self._party.operations()

    def steps(self) -> Steps[object]:
        steps, handed, boundaries = self._party.steps(), None, 0
        while True:
            try:
                effect = steps.send(handed)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                boundaries += 1
                if boundaries % 3 == 0:
                    snapshot = effect.snapshot()
                    steps.close()
                    self._party = self._rebuild(snapshot)
                    self.restarts += 1
                    steps = self._party.steps()
                    assert isinstance(next(steps), Checkpoint)
            handed = yield effect


def restarting(name: str, party: Party, policy: Policy) -> Party:
    def rebuild(snapshot: bytes) -> Party:
        if isinstance(party, Owner):
            return Owner(
                party._ring.identity,
                party._ring.run,
                policy,
                party._indices,
                first_owner=party._first_owner,
                minimum_key_bits=128,
                snapshot=snapshot,
            )
        if isinstance(party, Comp):
            return Comp(party._ring.identity, party._ring.run, policy, snapshot)
        assert isinstance(party, Controller)
        return Controller(policy, party._holdings, minimum_key_bits=128, snapshot=snapshot)

    return party if name == "customer" else Restarting(party, rebuild)


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("selection", ["bits", "position"])
def test_restarted_equals_uninterrupted(policy: Policy, selection: str) -> None:
    samba = lotor.Samba(policy, insecure_key_bits=128, owners=2, selection=selection)  # type: ignore[arg-type]
    arms = lotor.BernoulliArms([0.2, 0.5, 0.8])
    plain = run_openly(samba, arms, budget=60, seed=6)
    broken = run_openly(
        samba, arms, budget=60, seed=6, wrap=lambda name, party: restarting(name, party, policy)
    )
    restarted = [p.restarts for p in broken.parties.values() if isinstance(p, Restarting)]
    assert restarted == [19] * 4
    assert broken.arms == plain.arms
    assert broken.seats["customer"].output == plain.seats["customer"].output


def test_snapshots_carry_the_count_of_sealed_messages() -> None:
    """A restored key must not start counting towards its limit anew."""
    samba = lotor.Samba(lotor.UCB(), insecure_key_bits=128)
    outcome = run_openly(
        samba,
        lotor.BernoulliArms([0.2, 0.5]),
        budget=32,
        wrap=lambda name, party: restarting(name, party, lotor.UCB()),
    )
    assert outcome.parties["comp"].operations()["aes_gcm_encryptions"] == 60

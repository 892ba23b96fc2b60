"""Masks, permutations and keys are there, fresh each time, and of this run alone."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly, seen_by_comp
from lotor.core.cutting import cutter
from lotor.core.draws import Draws
from lotor.core.errors import IntegrityError
from lotor.core.fixed_point import Floats
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import place
from lotor.policies import ArmStates, Policy
from lotor.protocols.party import Party
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.paper import messages
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.owner import SambaPaperOwner
from lotor.protocols.samba.paper.wire import SEALED_SCORE

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

K, BUDGET = 6, 106
TURNS = 2 * (BUDGET - K)


@dataclass(frozen=True, slots=True)
class Indifferent(Policy):
    """Scores every arm 1, in two iterations: what Comp sees is the mask."""

    iterations: ClassVar[int] = 2

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return np.ones(len(arms))


def run_once(policy: Policy, means: list[float]) -> Outcome:
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=2)
    return run_openly(samba, lotor.BernoulliArms(means), budget=BUDGET, seed=9)


@pytest.fixture(scope="module")
def twice() -> tuple[Outcome, Outcome]:
    """Two runs with one seed."""
    return run_once(Indifferent(), [0.5] * K), run_once(Indifferent(), [0.5] * K)


def permutations(outcome: Outcome) -> Iterator[tuple[int, ...]]:
    """Read off the ciphertexts that Controller received and sent on."""
    cut, arrived = cutter(K, SEALED_SCORE), b""
    for exchange in outcome.recorder.exchanges:
        if isinstance(exchange.message, messages.MaskedScores):
            arrived += exchange.message.sealed
        elif isinstance(exchange.message, messages.PermutedScores):
            rows = cut(arrived)
            yield tuple(rows.index(row) for row in cut(exchange.message.sealed))
            arrived = b""


def test_the_mask_is_fresh_in_every_iteration_and_run(twice: tuple[Outcome, Outcome]) -> None:
    first, second = ([values[0] for values in seen_by_comp(outcome)] for outcome in twice)
    # masked = alpha·2^40 + less than alpha, so that dividing by 2^40 gives alpha to 12 digits.
    alphas = [value / 2**40 for value in (*first, *second)]
    # Two of 400 draws agree to so many digits once in a million runs, and three pairs never.
    assert len({round(alpha, -18) for alpha in alphas}) > 2 * TURNS - 3
    assert all(2**64 <= alpha < 2**96 * (1 + 2**-39) for alpha in alphas)
    assert np.mean(alphas) / 2**96 == pytest.approx(0.5, abs=0.1)


def test_the_permutation_is_fresh_in_every_iteration_and_run(
    twice: tuple[Outcome, Outcome],
) -> None:
    first, second = (list(permutations(outcome)) for outcome in twice)
    assert len(first) == len(second) == TURNS
    # 200 draws out of 720 permutations: 175 different ones on average, with a deviation of 4, and
    # 140 or fewer with a chance of 3e-14.
    assert len(set(first)) > 140
    # One in 720 is the same by chance: ten or more of 200 are with a chance of 5e-13.
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 10
    even, odd = first[::2], first[1::2]
    assert sum(a == b for a, b in zip(even, odd, strict=True)) < 10


def test_the_selected_position_says_nothing_of_the_arm() -> None:
    """One arm wins nearly always, and stands anywhere when it does.

    Chi-square with 5 degrees of freedom exceeds 60 with a chance of 1e-11.
    """
    outcome = run_once(lotor.EpsilonGreedy(0.0), [1.0] + [0.0] * (K - 1))
    assert outcome.arms.count(0) > BUDGET - 2 * K
    positions = Counter(values.index(max(values)) for values in seen_by_comp(outcome))
    expected = (BUDGET - K) / K
    assert sum((positions[j] - expected) ** 2 / expected for j in range(K)) < 60


def keys_of(outcome: Outcome) -> dict[str, bytes]:
    comp, controller = outcome.parties["comp"], outcome.parties["controller"]
    owner = outcome.parties["owner-1"]
    assert isinstance(comp, SambaPaperComp)
    assert isinstance(controller, SambaPaperController)
    assert isinstance(owner, SambaPaperOwner)
    return {
        "AES": comp._memory.aes_key,
        "permutation": controller._memory.permutation_key,
        "mask": owner._memory.mask_key,
    }


def test_keys_are_of_one_run_alone(twice: tuple[Outcome, Outcome]) -> None:
    first, second = map(keys_of, twice)
    assert len({*first.values(), *second.values()}) == 6
    assert all(len(set(key)) > 16 for key in first.values())


def test_owners_agree_on_their_keys(twice: tuple[Outcome, Outcome]) -> None:
    outcome = twice[0]
    one, two = outcome.parties["owner-1"], outcome.parties["owner-2"]
    assert isinstance(one, SambaPaperOwner)
    assert isinstance(two, SambaPaperOwner)
    assert one._memory.mask_key == two._memory.mask_key
    assert one._memory.coin_key == two._memory.coin_key
    assert one._memory.aes_key == two._memory.aes_key == keys_of(outcome)["AES"]


def test_sealed_keys_are_bound_to_their_run_and_purpose() -> None:
    """And the key that opens them is forgotten once they are open."""
    sealing: list[bytes] = []

    def keep(name: str, party: Party) -> Party:
        if name == "owner-1":
            assert isinstance(party, SambaPaperOwner)
            sealing.append(party._memory.sealing_key)
        return party

    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    outcome = run_openly(samba, lotor.BernoulliArms([0.5] * 2), budget=4, wrap=keep)
    (message,) = (
        seen.message
        for seen in outcome.recorder.received("owner-1")
        if isinstance(seen.message, set_up.SambaSealedKey)
    )
    assert isinstance(message, set_up.SambaSealedKey)
    bound = place(outcome.run.id, "AES key", "comp", "owner-1")
    assert SealingKey(sealing[0]).open(message.sealed, bound) == keys_of(outcome)["AES"]
    for other in (b"", place(outcome.run.id, "owners' keys", "comp", "owner-1")):
        with pytest.raises(IntegrityError):
            SealingKey(sealing[0]).open(message.sealed, other)
    owner = outcome.parties["owner-1"]
    assert isinstance(owner, SambaPaperOwner)
    assert owner._memory.sealing_key == b""

"""What Comp learns when it knows the arms: the evidence for leakage.py."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly, truth_of
from lotor.core.vectors import largest_norm
from lotor.policies.linear import LinearPolicy
from lotor.protocols.attack import Score
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.attacks import real_rewards
from lotor.protocols.linucb_ds.paper.attacks import (
    ArmsFromScores,
    RewardsFromScores,
    ScoresDecrypted,
    ThetaDecrypted,
    tracker_of,
)
from lotor.protocols.linucb_ds.paper.leakage import COMP, MEASURED
from lotor.protocols.linucb_ds.paper.messages import Winner
from lotor.protocols.linucb_ds.protocol import PaperSlotBits
from protocols.linucb_ds.stage import (
    known_keys,
    messages_of,
    small,
    small_key,
    some_arms,
    some_graph,
    view,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
    # The paper's R covers less noise than these arms have; nothing here depends on it.
    pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning"),
]

BUDGET = 40


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


@pytest.mark.parametrize(
    ("policy", "arms"),
    [
        (lotor.LinUCB(), some_arms(1, k=15, d=3)),
        (lotor.LinUCB(), some_arms(2, k=30, d=5)),
        (lotor.LinUCB(gamma=0.01, delta=0.001, R=0.01, S="log t"), some_arms(3, k=6, d=8)),
        (lotor.SpectralUCB(C=20.0), some_graph(4, k=10)),
    ],
    ids=["d=3 K=15", "d=5 K=30", "paper", "spectral"],
)
@pytest.mark.parametrize("slot_bits", [64, 96])
def test_comp_recovers_all_arms_and_rewards(
    policy: LinearPolicy, arms: lotor.LinearArms, slot_bits: PaperSlotBits
) -> None:
    outcome = run_openly(small(policy, slot_bits), arms, budget=BUDGET, seed=5)
    seen, real = view(outcome, "comp"), truth_of(outcome)
    comp = tracker_of(seen, arms.vectors, arms.eigenvalues)
    comp.read()
    draws = LinearDraws.simulated(outcome.run, arms)
    truth = [float(arms.means[arm]) + draws.noise(t) for t, arm in enumerate(outcome.arms, start=1)]
    assert comp.arms == outcome.arms
    assert real_rewards(real).tolist() == truth
    error = np.abs(np.array(comp.rewards) - truth[:-1]).max() / largest_norm(arms.vectors)
    assert error < (1e-7 if slot_bits == 64 else 1e-10)
    attacks = (ArmsFromScores(), RewardsFromScores(), ScoresDecrypted())
    scores = [attack.score(seen, real) for attack in attacks]
    assert [(score.right, score.of) for score in scores] == [
        (BUDGET, BUDGET),
        (BUDGET - 1, BUDGET),
        (arms.k * (BUDGET - 1), arms.k * (BUDGET - 1)),
    ]
    assert scores[0].chance == max(np.bincount(outcome.arms)) / BUDGET
    assert scores[1].chance <= 2 / BUDGET


@pytest.fixture(scope="module")
def outcome(_keys: None) -> Outcome:
    return run_openly(small(slot_bits=96), some_arms(1, k=15, d=3), budget=BUDGET, seed=5)


def test_without_the_arms_the_scores_are_all_that_it_has(outcome: Outcome) -> None:
    """With a catalogue of other arms, nothing fits."""
    arms, other = some_arms(1, k=15, d=3), some_arms(9, k=15, d=3)
    errors = [
        min(tracker_of(view(outcome, "comp"), known.vectors, None).explain(arm).error
            for arm in range(15))
        for known in (arms, other)
    ]  # fmt: skip
    assert errors[0] < 1e-6
    assert errors[1] > 1e-3


def test_with_other_arms_it_does_no_better_than_chance(outcome: Outcome) -> None:
    """Seeds fix the run, so that this passes always or never."""
    seen, truth = view(outcome, "comp"), truth_of(outcome)
    arms, other = some_arms(1, k=15, d=3), some_arms(9, k=15, d=3)
    score = ArmsFromScores().score(seen, replace(truth, environment=other))
    assert score.right <= score.chance * score.of
    wrong = tracker_of(seen, other.vectors, None)
    wrong.read()
    error = np.abs(np.array(wrong.rewards) - real_rewards(truth)[:-1])
    assert (error > 1e-6 * largest_norm(arms.vectors)).all()


def test_comp_and_p_together_read_theta(outcome: Outcome) -> None:
    truth = truth_of(outcome)
    for seats in (("comp",), ("principal",)):
        assert ThetaDecrypted().score(view(outcome, *seats), truth) == Score(0, 3, 1 / 3)
    both = ThetaDecrypted().score(view(outcome, "principal", "comp"), truth)
    assert both == Score(3, 3, 1 / 3)


def test_leakage_says_so() -> None:
    assert "everything, when it knows the arms" in MEASURED[COMP].measured
    assert "every reward but the last" in MEASURED[COMP].measured
    assert "rewards to 1e-7 (1e-10 with 96-bit slots)" in MEASURED[COMP].evidence


def test_a_simulation_takes_its_permutations_from_the_seed() -> None:
    """SECURITY.md says so: with keys that differ, Comp names the same positions again."""
    positions = []
    for seed in (1, 1, 2):
        # Without noise the arms are the same whatever the seed: only the permutations differ.
        arms = lotor.LinearArms(some_arms(3, k=6, d=2).vectors, [0.5, 0.5], noise_sd=0, first=0)
        outcome = run_openly(small(), arms, budget=12, seed=seed)
        positions.append(messages_of(outcome, Winner))
    assert positions[0] == positions[1] != positions[2]

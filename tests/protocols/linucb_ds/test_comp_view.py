"""What Comp learns when it knows the arms: the evidence for leakage.py.

Comp sees every round's scores, in another order and less a number that is common to all of them
(the largest c). After t pulls they are <x_i, A^-1 (b + r x)> + omega |x_i| for the arm x pulled
last and its reward r: from a guess of x, the spread of the scores gives r, and the sorted scores
say whether the guess was right. The largest score names the next arm. So it goes on to the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.policies.linear import LinearPolicy, SlotBits
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.leakage import COMP, MEASURED
from lotor.protocols.linucb_ds.messages import Winner
from lotor.protocols.plain.linear import linear_layout
from protocols.linucb_ds.stage import (
    known_keys,
    messages_of,
    scores_seen_by_comp,
    small,
    small_key,
    some_arms,
    some_graph,
)

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET = 40


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


@dataclass
class Guess:
    """How far the scores are from those seen, the last reward, all scores up to a constant."""

    error: float
    reward: float
    scores: Floats


class CuriousComp:
    """Knows the catalogue of arms and the terms; has seen the scores. Nothing else."""

    def __init__(
        self,
        policy: LinearPolicy,
        vectors: Floats,
        eigenvalues: Floats | None,
        views: list[Floats],
    ) -> None:
        self._x = vectors
        self._views = views
        self._arguments = policy, eigenvalues
        self.arms: list[int] = []
        self.rewards: list[float] = []

    def _scores(self, arms: list[int], rewards: list[float]) -> Floats:
        """What the arms score after these pulls: a model's c, if all of a reward is noise."""
        policy, eigenvalues = self._arguments
        model = policy.start(self._x, budget=BUDGET, eigenvalues=eigenvalues)
        for arm, reward in zip(arms, rewards, strict=True):
            model.update(arm, reward)
        return model.coefficients(len(arms))[1]

    def _explain(self, arms: list[int], rewards: list[float]) -> Guess:
        """The reward of the last of these arms that explains the next scores best."""
        base = self._scores(arms, [*rewards, 0.0])
        slope = self._scores(arms, [*rewards, 1.0]) - base
        seen = np.sort(self._views[len(arms) - 1])
        return min(
            (self._judge(base, slope, seen, r) for r in self._candidates(base, slope, seen)),
            key=lambda guess: guess.error,
        )

    def _candidates(self, base: Floats, slope: Floats, seen: Floats) -> list[float]:
        """Rewards with which the scores are spread as those seen: at most two."""
        base, slope, seen = (values - values.mean() for values in (base, slope, seen))
        a, b = float(slope @ slope), 2 * float(slope @ base)
        c = float(base @ base) - float(seen @ seen)
        root = sqrt(max(0.0, b * b - 4 * a * c))
        return [(-b + sign * root) / (2 * a) for sign in (1, -1)]

    def _judge(self, base: Floats, slope: Floats, seen: Floats, reward: float) -> Guess:
        order = np.argsort(base + reward * slope)
        # With the order known, the reward follows from all scores at once.
        columns = np.stack([slope[order], np.ones(len(seen))], axis=1)
        fit = np.linalg.lstsq(columns, seen - base[order], rcond=None)[0]
        scores = base + fit[0] * slope
        error = np.abs(np.sort(scores) + fit[1] - seen).max()
        return Guess(float(error), float(fit[0]), scores)

    def read(self) -> None:
        """Every arm, and every reward but the last, which no scores follow."""
        first = {arm: self._explain([arm], []) for arm in range(len(self._x))}
        arm = min(first, key=lambda arm: first[arm].error)
        self.arms = [arm]
        for _ in self._views:
            guess = self._explain(self.arms, self.rewards)
            self.rewards.append(guess.reward)
            self.arms.append(int(guess.scores.argmax()))


def in_units(outcome: Outcome, policy: LinearPolicy, slot_bits: SlotBits) -> list[Floats]:
    """The slots as scores, less what is common to all of a round."""
    arms = outcome.run.environment
    assert isinstance(arms, lotor.LinearArms)
    layout = linear_layout(arms.vectors, policy, slot_bits)
    return [
        np.ldexp(np.array([float(score - max(seen)) for score in seen]), -layout.fraction)
        for seen in scores_seen_by_comp(outcome)
    ]


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
    policy: LinearPolicy, arms: lotor.LinearArms, slot_bits: SlotBits
) -> None:
    outcome = run_openly(small(policy, slot_bits), arms, budget=BUDGET, seed=5)
    views = in_units(outcome, policy, slot_bits)
    comp = CuriousComp(policy, arms.vectors, arms.eigenvalues, views)
    comp.read()
    draws = LinearDraws.simulated(outcome.run, arms)
    truth = [float(arms.means[arm]) + draws.noise(t) for t, arm in enumerate(outcome.arms, start=1)]
    assert comp.arms == outcome.arms
    assert np.abs(np.array(comp.rewards) - truth[:-1]).max() < 1e-6 * largest_norm(arms.vectors)


def test_without_the_arms_the_scores_are_all_that_it_has() -> None:
    """With a catalogue of other arms, nothing fits."""
    arms, other = some_arms(1, k=15, d=3), some_arms(9, k=15, d=3)
    outcome = run_openly(small(slot_bits=96), arms, budget=BUDGET, seed=5)
    policy = lotor.LinUCB()
    right, wrong = (
        CuriousComp(policy, known.vectors, None, in_units(outcome, policy, 96))
        for known in (arms, other)
    )
    errors = [min(comp._explain([arm], []).error for arm in range(15)) for comp in (right, wrong)]
    assert errors[0] < 1e-6
    assert errors[1] > 1e-3


def test_leakage_says_so() -> None:
    assert "everything, when it knows the arms" in MEASURED[COMP].measured
    assert "every reward but the last" in MEASURED[COMP].measured


def test_a_simulation_takes_its_permutations_from_the_seed() -> None:
    """SECURITY.md says so: with keys that differ, Comp names the same positions again."""
    positions = []
    for seed in (1, 1, 2):
        # Without noise the arms are the same whatever the seed: only the permutations differ.
        arms = lotor.LinearArms(some_arms(3, k=6, d=2).vectors, [0.5, 0.5], noise_sd=0, first=0)
        outcome = run_openly(small(), arms, budget=12, seed=seed)
        positions.append(messages_of(outcome, Winner))
    assert positions[0] == positions[1] != positions[2]

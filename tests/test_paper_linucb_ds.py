"""The yardstick of the benchmarks does what it is compared with: the same arms, the same sum."""

import sys
from pathlib import Path

import numpy as np
import pytest

import lotor

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import paper_linucb_ds as paper

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET = 12
CONSTANTS = {"gamma": 0.01, "delta": 0.001}


@pytest.fixture(scope="module")
def keys() -> paper.Keys:
    return paper.Keys(512)


def bandit(arms: lotor.LinearArms) -> paper.Bandit:
    assert arms.noise is not None
    return paper.Bandit(arms.vectors, arms.theta, noise=arms.noise.tolist(), first=arms.first)


@pytest.mark.parametrize("bonus", ["encrypted", "added"])
def test_linucb_ds_pulls_the_arms_of_the_papers_figure_4(
    keys: paper.Keys, bonus: paper.Bonus
) -> None:
    draws = np.random.default_rng(4)
    arms = lotor.LinearArms(
        draws.normal(size=(5, 3)), draws.normal(size=3), noise=draws.normal(0, 0.1, BUDGET), first=2
    )
    policy = lotor.LinUCB(R=0.01, S="log t", **CONSTANTS)
    ours = lotor.run(
        lotor.LinUCBDS(policy, form="paper", insecure_key_bits=512), arms, budget=BUDGET, seed=1
    )
    algorithm = paper.linucb(arms.vectors, r=0.01, **CONSTANTS)
    theirs, reward = paper.run(algorithm, bandit(arms), keys, budget=BUDGET, bonus=bonus)
    assert theirs == ours.arms
    assert reward == pytest.approx(ours.reward, abs=1e-5)


def test_spectral_ucb_ds_pulls_the_arms_of_the_papers_section_6(keys: paper.Keys) -> None:
    draws = np.random.default_rng(5)
    # Weights that all differ: on a symmetric graph arms tie, and the paper then picks any of them.
    weights = np.triu(draws.random((6, 6)), 1)
    arms = lotor.GraphArms(
        weights + weights.T,
        values=draws.random(6),
        noise=draws.normal(0, 0.1, BUDGET),
        first=1,
    )
    policy = lotor.SpectralUCB(R=0.01, C="log t", **CONSTANTS)
    ours = lotor.run(
        lotor.SpectralUCBDS(policy, form="paper", insecure_key_bits=512),
        arms,
        budget=BUDGET,
        seed=1,
    )
    algorithm = paper.spectral_ucb(arms.spectrum, BUDGET, r=0.01, **CONSTANTS)
    theirs, reward = paper.run(algorithm, bandit(arms), keys, budget=BUDGET)
    assert theirs == ours.arms
    assert reward == pytest.approx(ours.reward, abs=1e-5)

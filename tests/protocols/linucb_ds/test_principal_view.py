"""What P learns from the arms that it pulls: the evidence for leakage.py.

P knows every u and c, so each choice tells it that <u_m - u_i, theta> >= c_i - c_m for the chosen m
and every other i. It guesses the middle of what is left.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

import lotor
from helpers import run_openly
from lotor.core.fixed_point import Floats
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.leakage import MEASURED, PRINCIPAL
from lotor.protocols.plain import Plain
from protocols.linucb_ds.stage import some_arms

POLICY = lotor.LinUCB()


def guess(vectors: Floats, pulled: list[int], noise: list[float]) -> Floats:
    """The centre of the largest ball of thetas with which P would have pulled these arms."""
    k, d = vectors.shape
    model = POLICY.start(vectors, budget=len(pulled))
    model.update(pulled[0], noise[0])
    normals: list[Floats] = []
    bounds: list[Floats] = []
    for t, arm in enumerate(pulled[1:], start=1):
        u, c = model.coefficients(t)
        others = np.arange(k) != arm
        normals.append((u - u[arm])[others])
        bounds.append((c[arm] - c)[others])
        model.update(arm, noise[t])
    a = np.vstack(normals)
    lengths = np.sqrt(np.square(a).sum(axis=1))
    found = linprog(
        [0.0] * d + [-1.0],
        A_ub=np.column_stack([a, lengths]),
        b_ub=np.concatenate(bounds),
        bounds=[(-POLICY.bound, POLICY.bound)] * d + [(0, None)],
    )
    assert found.status == 0
    return np.array(found.x[:d], dtype=np.float64)


def cosine(seed: int, k: int, d: int, budget: int) -> float:
    """A run in plain pulls the same arms as a secure one, and is faster."""
    arms = some_arms(seed, k=k, d=d)
    outcome = run_openly(Plain(POLICY), arms, budget=budget, seed=seed)
    draws = LinearDraws.simulated(outcome.run, arms)
    noise = [draws.noise(t) for t in range(1, budget + 1)]
    guessed = guess(arms.vectors, outcome.arms, noise)
    return float(guessed @ arms.theta / np.sqrt((guessed @ guessed) * (arms.theta @ arms.theta)))


@pytest.mark.parametrize(("k", "d", "budget"), [(15, 3, 60), (30, 5, 100), (50, 5, 100)])
def test_p_knows_thetas_direction_in_most_runs(k: int, d: int, budget: int) -> None:
    cosines = sorted(cosine(seed, k, d, budget) for seed in range(15))
    assert cosines[7] > 0.9


def test_leakage_says_so() -> None:
    assert "to a cosine above 0.9 in most runs" in MEASURED[PRINCIPAL].measured

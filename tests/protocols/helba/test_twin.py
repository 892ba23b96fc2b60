"""The circuit in clear decides as the exact policy does, and stays within its public bounds."""

import numpy as np
import pytest
from helba_simulation import InClear, repeat
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.bounds import QuadraticBounds
from lotor.protocols.helba.paper.index_circuit import PairComparison, Sums, plus
from lotor.protocols.helba.paper.quadratic import QuadraticPacking, differences, estimate
from protocols.helba.stage import beside_exact, setting_of, small, some_contexts


def test_the_toy_problem_has_no_different_decision() -> None:
    """T = 130, 25 repetitions."""
    setting = setting_of(small(), rounds=130, arms=2, d=2)
    environments = [some_contexts(s, rounds=130, arms=2, d=2) for s in range(25)]
    rounds = repeat(setting, environments, range(25), InClear(setting))
    decided = list(beside_exact(setting, rounds))
    assert len(decided) == 3250
    assert all(one.same for one in decided)


@pytest.mark.parametrize(("arms", "d"), [(2, 3), (3, 4), (5, 5), (3, 6), (10, 2)])
def test_other_sizes_have_no_different_decision(arms: int, d: int) -> None:
    """By cofactors and, for d = 6, by an inverse that is right up to 2^-9."""
    setting = setting_of(small(stages=2 if d == 6 else 3), rounds=12, arms=arms, d=d)
    environments = [some_contexts(s, rounds=12, arms=arms, d=d) for s in range(3)]
    decided = list(beside_exact(setting, repeat(setting, environments, range(3), InClear(setting))))
    assert len(decided) == 36
    assert all(one.same for one in decided if d < 6 or one.gap >= one.resolution)


@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_batches_follow_the_public_schedule(eta: float) -> None:
    setting = setting_of(small(BatchedOFUL(eta=eta)), rounds=40, arms=2, d=2)
    environments = [some_contexts(s, rounds=40, arms=2, d=2) for s in range(5)]
    rounds = list(repeat(setting, environments, range(5), InClear(setting)))
    assert all(one.same for one in beside_exact(setting, rounds))
    assert len({done.start for done in rounds}) == setting.bounds.batches() < 40


def test_a_known_mean_length_tells_more_gaps_apart() -> None:
    """On contexts uniform in a cube det V is far below the bound that follows from L alone."""

    def share(rms_length: float) -> float:
        setting = setting_of(small(rms_length=rms_length), rounds=40, arms=5, d=5)
        environments = [some_contexts(s, rounds=40, arms=5, d=5) for s in range(4)]
        done = repeat(setting, environments, range(4), InClear(setting))
        decided = list(beside_exact(setting, done))
        assert all(one.same for one in decided)
        return float(np.mean([one.gap >= one.resolution for one in decided]))

    assert share(3.7) > share(5.5)


@given(
    d=st.integers(2, 7),
    n=st.integers(0, 40),
    late=st.integers(0, 60),
    spread=st.sampled_from([0.0, 0.01, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_no_difference_is_beyond_its_bound(
    d: int, n: int, late: int, spread: float, seed: int
) -> None:
    """Contexts as long as allowed, all alike or in all directions; rewards as large as allowed."""
    policy = BatchedOFUL()
    bounds = QuadraticBounds(policy, d, n + 1 + late, mean_bound=1.0, rms_length=policy.L)
    comparing = PairComparison(2, 4, 2)
    packing = QuadraticPacking(bounds, comparing)
    draw = np.random.default_rng(seed)
    directions = draw.normal(size=d) + spread * 10 * draw.normal(size=(n + 2, d))
    x = policy.L * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    # The largest means and noise that all lean to one side, of two deviations.
    rewards = np.sign(x[:n] @ draw.normal(size=d)) * (1.0 + 2 * policy.sigma * 0.5)
    sums = tuple(np.full(2, value) for value in packing.ridge())
    for row, reward in zip(x[:n], rewards, strict=True):
        sums = plus(sums, packing.update(row[np.newaxis], np.array([reward])))
    tables = packing.contexts(x[np.newaxis, n:], n + 1, n + 1)
    learnt = estimate(Sums.of(sums, d), bounds, n + 1).listed()
    values = differences(learnt, tables) / comparing.polynomial.factor
    assert np.abs(values).max() <= 1 + 2.0**-8
    assert max(np.abs(entry).max() for entry in sums) <= 4.1

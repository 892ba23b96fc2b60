"""The paper's index in clear: decisions and batches of the exact policy, within public bounds."""

import numpy as np
import pytest
from helba_simulation import InClear, ends_by_condition, renewed, repeat
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.policies.optimistic import BatchedOFUL
from lotor.policies.optimistic.model import Batch
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.index_circuit import plus
from lotor.protocols.helba.paper.root import RootCircuit
from protocols.helba.stage import beside_exact, paper, setting_of, small, some_contexts


def test_the_toy_problem_differs_below_the_resolution_only() -> None:
    setting = setting_of(small(paper(C=None, eta=0.1)), rounds=130, arms=2, d=2)
    environments = [some_contexts(s, rounds=130, arms=2, d=2) for s in range(10)]
    rounds = list(repeat(setting, environments, range(10), InClear(setting)))
    assert len({done.start for done in rounds}) == 33
    decided = list(beside_exact(setting, rounds))
    assert all(one.same for one in decided if one.gap >= one.resolution)
    assert np.mean([one.gap >= one.resolution for one in decided]) > 0.8
    assert np.mean([one.same for one in decided]) > 0.95


@pytest.mark.parametrize(("arms", "d"), [(3, 2), (2, 3), (4, 4), (2, 6)])
def test_other_sizes(arms: int, d: int) -> None:
    setting = setting_of(small(paper(C=None, eta=0.3), stages=3), rounds=20, arms=arms, d=d)
    environments = [some_contexts(s, rounds=20, arms=arms, d=d) for s in range(3)]
    decided = list(beside_exact(setting, repeat(setting, environments, range(3), InClear(setting))))
    assert all(one.same for one in decided if one.gap >= one.resolution)
    assert any(one.gap >= one.resolution for one in decided)


@pytest.mark.parametrize(("C", "eta"), [(1.0, 1.0), (0.3, 3.0)])
def test_batches_end_by_condition_8(C: float, eta: float) -> None:  # noqa: N803
    """`beside_exact` holds every start against the exact policy's."""
    setting = setting_of(small(paper(C=C, eta=eta)), rounds=60, arms=2, d=2)
    for seed in range(3):
        contexts = [some_contexts(seed, rounds=60, arms=2, d=2)]
        rounds = list(repeat(setting, contexts, [seed], InClear(setting)))
        decided = list(beside_exact(setting, rounds))
        assert all(one.same for one in decided if one.gap >= one.resolution)
        assert len({done.start for done in rounds}) > setting.bounds.batches()


def test_repetitions_have_batches_in_common_or_none() -> None:
    setting = setting_of(small(paper(C=1.0, eta=1.0)), rounds=3, arms=2, d=2)
    contexts = [some_contexts(s, rounds=3, arms=2, d=2) for s in range(2)]
    with pytest.raises(InputError, match="in different rounds: take C=None"):
        next(repeat(setting, contexts, range(2), InClear(setting)))


@given(
    d=st.integers(2, 6),
    n=st.integers(1, 40),
    late=st.integers(0, 60),
    spread=st.sampled_from([0.0, 0.01, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_nothing_is_beyond_its_bound(d: int, n: int, late: int, spread: float, seed: int) -> None:
    """Contexts as long as allowed, all alike or in all directions; rewards as large as allowed."""
    policy = paper(C=1.0, eta=0.1)
    setting = setting_of(small(policy, stages=2), rounds=n + 1 + late, arms=2, d=d)
    circuit = RootCircuit.of(setting.circuit)
    draw = np.random.default_rng(seed)
    directions = draw.normal(size=d) + spread * 10 * draw.normal(size=(n + 2, d))
    x = policy.L * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    # The largest means and noise that all lean to one side, of two deviations.
    rewards = np.sign(x[:n] @ draw.normal(size=d)) * (1.0 + 2 * policy.sigma * 0.5)
    clear, t = InClear(setting), n + 1
    sums = tuple(clear.first(value) for value in circuit.packing.ridge())
    for row, reward in zip(x[:n], rewards, strict=True):
        sums = plus(sums, circuit.packing.update(row[np.newaxis], np.array([reward])))
    assert max(np.abs(entry).max() for entry in sums) <= 2.0**8 * 1.01
    learnt = renewed(circuit, sums, t, clear)
    assert max(np.abs(entry).max() for entry in learnt) <= 1 + 2.0**-10
    tables = circuit.packing.contexts(x[np.newaxis, n:], t, t)
    values = circuit.differences(learnt, tables, t, t) / circuit.polynomial.factor
    assert np.abs(values).max() <= 1 + 2.0**-8
    v = policy.ridge * np.eye(d) + x[:n].T @ x[:n]
    batch = Batch(t, np.linalg.inv(v), np.linalg.inv(v) @ (rewards @ x[:n]), 0.0)
    z = np.einsum("ai,ij,aj->a", x[n:], batch.inverse, x[n:])
    indices = x[n:] @ batch.weights + policy.beta(t, batch) * policy.bonus(z, t, batch)
    exact = (indices[0] - indices[1]) / circuit.packing.difference(t, t)
    assert abs(values[0] - exact) <= HelbaForecast(setting).arithmetic_error(t, t)


@given(
    C=st.floats(0.05, 3.0),
    d=st.integers(2, 4),
    rounds=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=40)
def test_condition_8_is_decided_right_above_its_resolution(
    C: float,  # noqa: N803
    d: int,
    rounds: int,
    seed: int,
) -> None:
    policy = paper(C=C, eta=9.0)
    setting = setting_of(small(policy, stages=3), rounds=30, arms=2, d=d)
    circuit, clear, resolution = (
        RootCircuit.of(setting.circuit),
        InClear(setting),
        HelbaForecast(setting),
    )
    draw = np.random.default_rng(seed)
    x = draw.uniform(-3, 3, (12 + rounds, d))
    sums = tuple(clear.first(value) for value in circuit.packing.ridge())
    before = sums
    for t, row in enumerate(x, 1):
        if t == 13:
            before = sums
        sums = plus(sums, circuit.packing.update(row[np.newaxis], np.array([0.5])))
    v = policy.ridge * np.eye(d) + x[:12].T @ x[:12]
    trace = float(np.einsum("ai,ij,aj->", x[12:], np.linalg.inv(v), x[12:]))
    learnt = renewed(circuit, before, 13, clear)
    told = resolution.switch_resolution()
    assert told is not None
    if abs(trace - C) > told and trace < C + policy.L**2 / policy.ridge:
        assert ends_by_condition(circuit, learnt, before, sums, clear) == (trace >= C)
    for coin in (1, -1):
        covered = circuit.covered_sign(learnt, before, sums, coin)
        assert np.all(covered[1:] == 0)
        assert circuit.uncovered(covered.item(0) > 0, coin) == ends_by_condition(
            circuit, learnt, before, sums, clear
        )


def test_the_plan_has_the_resolution_of_the_switch() -> None:
    asked = HelbaForecast(setting_of(small(paper(C=1.0, eta=0.1)), rounds=130, arms=2, d=2))
    resolution = asked.switch_resolution()
    assert resolution is not None
    assert 0.01 < resolution < 0.05
    for policy in (paper(C=None, eta=0.1), BatchedOFUL()):
        plan = HelbaForecast(setting_of(small(policy), rounds=130, arms=2, d=2))
        assert plan.switch_resolution() is None

"""The model against plain matrices from LAPACK."""

from collections.abc import Callable
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, JournalError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.policies.optimistic import (
    OFUL,
    RSOFUL,
    RSOFULTR,
    Batch,
    BatchedOFUL,
    OptimisticModel,
    OptimisticPolicy,
    log_determinant,
)

seeds = st.integers(0, 2**32)
dimensions = st.integers(1, 7)
policies: st.SearchStrategy[OptimisticPolicy] = st.sampled_from(
    [
        OFUL(),
        OFUL(ridge=0.3, sigma=0.1, width="public"),
        RSOFUL(C=0.4, width="union"),
        RSOFULTR(C=2.0, S=3.0),
        BatchedOFUL(),
        BatchedOFUL(index="sqrt", C=1.0, eta=0.1, width="union"),
        BatchedOFUL(touch="flat", eta=0.5),
    ]
)


def pulls(seed: int, d: int, rounds: int) -> list[tuple[Floats, float]]:
    generator = np.random.default_rng(seed)
    contexts = generator.uniform(-1, 1, size=(rounds, d)) * 5 / np.sqrt(d)
    return list(zip(contexts, generator.normal(size=rounds).tolist(), strict=True))


def learned(model: OptimisticModel, data: list[tuple[Floats, float]]) -> OptimisticModel:
    for x, reward in data:
        model.update(x, reward)
    return model


@given(seeds, dimensions)
def test_oful_knows_all_rounds(seed: int, d: int) -> None:
    data = pulls(seed, d, 30)
    policy = OFUL(ridge=0.7, sigma=0.4, S=2.0, delta=0.05)
    model = learned(policy.start(d), data)
    v = 0.7 * np.eye(d) + sum(np.outer(x, x) for x, _ in data)
    w = np.linalg.solve(v, sum(reward * x for x, reward in data))
    growth = np.linalg.slogdet(v)[1] - d * np.log(0.7)
    beta = 0.4 * np.sqrt(growth + 2 * np.log(20)) + 2 * np.sqrt(0.7)
    x = np.random.default_rng(seed + 1).normal(size=(4, d))
    z = np.einsum("ai,ij,aj->a", x, np.linalg.inv(v), x)
    assert model.indices(x) == pytest.approx(x @ w + beta * np.sqrt(z), rel=1e-8, abs=1e-8)
    assert (model.t, model.updates, model.batch.start) == (31, 30, 31)


@given(policies, seeds, dimensions)
def test_a_batch_keeps_the_estimate_of_the_rounds_before_it(
    policy: OptimisticPolicy, seed: int, d: int
) -> None:
    data = pulls(seed, d, 40)
    model = learned(policy.start(d), data)
    start = model.batch.start
    v = policy.ridge * np.eye(d) + sum(
        (np.outer(x, x) for x, _ in data[: start - 1]), start=np.zeros((d, d))
    )
    g = sum((reward * x for x, reward in data[: start - 1]), start=np.zeros(d))
    assert model.batch.inverse == pytest.approx(np.linalg.inv(v), rel=1e-8, abs=1e-10)
    assert model.batch.weights == pytest.approx(np.linalg.solve(v, g), rel=1e-6, abs=1e-8)
    own = np.array([x for x, _ in data[start - 1 :]]).reshape(-1, d)
    trace = np.einsum("li,ij,lj->", own, np.linalg.inv(v), own)
    assert model.batch.trace == pytest.approx(trace, abs=1e-9)


@given(policies, seeds, dimensions, st.integers(0, 30))
def test_a_restored_model_goes_on_bit_by_bit(
    policy: OptimisticPolicy, seed: int, d: int, cut: int
) -> None:
    data = pulls(seed, d, 30)
    model, other = learned(policy.start(d), data[:cut]), policy.start(d)
    other.restore(model.snapshot())
    x = np.random.default_rng(seed).normal(size=(3, d))
    for pull in data[cut:]:
        assert model.indices(x).tolist() == other.indices(x).tolist()
        learned(model, [pull])
        learned(other, [pull])
    assert model.snapshot() == other.snapshot()


def test_a_snapshot_of_another_model_is_refused() -> None:
    with pytest.raises(JournalError, match="a model of 3 dimensions"):
        OFUL().start(3).restore(OFUL().start(2).snapshot())


def test_what_was_learned_is_in_no_repr() -> None:
    model = learned(OFUL().start(2), pulls(1, 2, 4))
    assert repr(model) == "<OptimisticModel of 2 dimensions at round 5>"
    assert repr(model.snapshot()) == "<OptimisticSnapshot of 2 dimensions at round 5>"


def test_contexts_have_numbers() -> None:
    with pytest.raises(InputError, match="nothing to learn"):
        OFUL().start(0)


@given(seeds, dimensions)
def test_the_logarithm_of_a_determinant(seed: int, d: int) -> None:
    root = np.random.default_rng(seed).normal(size=(d, d + 2))
    matrix = root @ root.T
    assert log_determinant(matrix) == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-6)


@pytest.mark.parametrize("entry", [0.0, -1.0, nan])
def test_what_is_not_positive_definite_has_none(entry: float) -> None:
    with pytest.raises(PolicyError, match="a larger ridge"):
        log_determinant(np.array([[1.0, 0.0], [0.0, entry]]))


def test_a_ridge_that_is_lost_in_rounding_is_named() -> None:
    model = OFUL(ridge=1e-30, width="public").start(2)
    with pytest.raises(PolicyError, match="ridge is too small"):
        learned(model, [(np.array([3.0, 3.0]), 0.5)] * 3)


def test_a_policy_of_ones_own() -> None:
    class Tenth(OFUL):
        def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
            return t % 10 == 0

    assert learned(Tenth().start(2), pulls(3, 2, 35)).updates == 3

"""Against the normal equations, solved anew each time."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import InputError, JournalError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.policies.contextual import LeastSquares, LeastSquaresSnapshot

sizes = st.tuples(st.integers(1, 5), st.integers(1, 8))


def contexts(generator: np.random.Generator, rounds: int, d: int) -> Floats:
    """Of all lengths up to 1, the coordinates of very different size."""
    rows = generator.normal(size=(rounds, d)) * np.geomspace(1, 1e-2, d)
    return np.asarray(rows / largest_norm(rows))


def solved(x: Floats, rewards: Floats, ridge: float) -> Floats:
    weights = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ rewards)
    return np.asarray(weights, np.float64)


@given(sizes, st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 20.0]), st.integers(1, 50))
def test_weights_solve_the_normal_equations(
    size: tuple[int, int], seed: int, ridge: float, recompute: int
) -> None:
    arms, d = size
    generator = np.random.default_rng(seed)
    x = contexts(generator, 80, d)
    pulled = generator.integers(0, arms, size=80)
    rewards = generator.random(80)
    model = LeastSquares(arms, d, ridge=ridge, recompute=recompute)
    for arm, row, reward in zip(pulled.tolist(), x, rewards.tolist(), strict=True):
        model.update(arm, row, reward)
    for arm in range(arms):
        mine = pulled == arm
        expected = solved(x[mine], rewards[mine], ridge)
        assert model.weights[arm] == pytest.approx(expected, abs=1e-8, rel=1e-8)
    fresh = contexts(generator, 1, d)[0]
    assert model.scores(fresh) == pytest.approx(model.weights @ fresh, abs=1e-12)


@pytest.mark.parametrize(("ridge", "error"), [(1.0, 1e-10), (1e-6, 1e-4)])
def test_rounding_does_not_add_up(ridge: float, error: float) -> None:
    generator = np.random.default_rng(5)
    few = contexts(generator, 4, 12)
    for rows in (contexts(generator, 5000, 12), few[generator.integers(0, 4, size=5000)]):
        often, never = (LeastSquares(1, 12, ridge=ridge, recompute=n) for n in (50, 10**9))
        rewards = 0.5 + 0.2 * np.sin(rows.sum(axis=1))
        for row, reward in zip(rows, rewards.tolist(), strict=True):
            often.update(0, row, reward)
            never.update(0, row, reward)
        expected = rows @ solved(rows, rewards, ridge)
        assert rows @ often.weights[0] == pytest.approx(expected, abs=error)
        assert rows @ never.weights[0] == pytest.approx(expected, abs=error)


def test_a_wrong_inverse_lasts_until_the_next_recomputation() -> None:
    rows = contexts(np.random.default_rng(2), 20, 4)
    model, sound = (LeastSquares(1, 4, ridge=1.0, recompute=10) for _ in range(2))
    model.restore(msgspec.structs.replace(model.snapshot(), inverses=bytes(8 * 16)))
    for count, row in enumerate(rows, 1):
        model.update(0, row, 1.0)
        sound.update(0, row, 1.0)
        assert (model.weights.tolist() == sound.weights.tolist()) == (count >= 10)


def test_an_update_changes_one_arm_and_keeps_its_inverse_symmetric() -> None:
    generator = np.random.default_rng(1)
    model = LeastSquares(3, 6, ridge=1.0, recompute=1000)
    for row in contexts(generator, 200, 6):
        model.update(1, row, 0.75)
    assert not model.weights[[0, 2]].any()
    inverses = np.frombuffer(model.snapshot().inverses).reshape(3, 6, 6)
    assert np.array_equal(inverses, inverses.transpose(0, 2, 1))


@settings(max_examples=25)
@given(sizes, st.integers(0, 2**32), st.integers(0, 60))
def test_a_restored_model_goes_on_to_the_bit(size: tuple[int, int], seed: int, cut: int) -> None:
    arms, d = size
    generator = np.random.default_rng(seed)
    rows = contexts(generator, 60, d)
    plan = [
        (int(arm), row, float(reward))
        for arm, row, reward in zip(
            generator.integers(0, arms, size=60), rows, generator.random(60), strict=True
        )
    ]
    model, restored = (LeastSquares(arms, d, ridge=1.0, recompute=7) for _ in range(2))
    for step in plan[:cut]:
        model.update(*step)
    written = msgspec.msgpack.encode(model.snapshot())
    restored.restore(msgspec.msgpack.decode(written, type=LeastSquaresSnapshot))
    for step in plan[cut:]:
        assert restored.scores(step[1]).tolist() == model.scores(step[1]).tolist()
        model.update(*step)
        restored.update(*step)
    assert restored.snapshot() == model.snapshot()


def test_a_snapshot_of_another_model_is_refused() -> None:
    model = LeastSquares(2, 3, ridge=1.0, recompute=10)
    for other in (
        LeastSquares(3, 3, ridge=1.0, recompute=10),
        LeastSquares(2, 4, ridge=1.0, recompute=10),
    ):
        with pytest.raises(JournalError, match="2 arms in 3 dimensions"):
            model.restore(other.snapshot())
    damaged = msgspec.structs.replace(model.snapshot(), updates=(1,))
    with pytest.raises(JournalError, match="damaged or of another run"):
        model.restore(damaged)


def test_a_matrix_that_cannot_be_inverted_is_named() -> None:
    model = LeastSquares(1, 2, ridge=1e-30, recompute=1)
    with pytest.raises(PolicyError, match="ridge is too small"):
        model.update(0, np.array([0.5, 0.5]), 1.0)


@pytest.mark.parametrize(("arms", "d"), [(0, 3), (3, 0)])
def test_a_model_of_nothing_is_refused(arms: int, d: int) -> None:
    with pytest.raises(InputError, match="nothing to learn"):
        LeastSquares(arms, d, ridge=1.0, recompute=10)


def test_reprs_show_no_weights() -> None:
    model = LeastSquares(2, 3, ridge=1.0, recompute=10)
    assert repr(model) == "<LeastSquares of 2 arms in 3 dimensions>"
    assert repr(model.snapshot()) == "<LeastSquaresSnapshot of 2 arms>"

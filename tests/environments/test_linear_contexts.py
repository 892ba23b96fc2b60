from collections import Counter
from collections.abc import Callable
from math import inf, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import Environment, LinearContexts

TABLE = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 2.0]], [[0.0, 0.0], [3.0, -1.0]]]
ARMS = LinearContexts(TABLE, [0.75, 0.25], noise_sd=0)
seeds = st.integers(0, 2**48)


def decision(t: int, arm: int = 0) -> Decision:
    return Decision.of_step("demo", t, arm)


def test_what_it_carries() -> None:
    arms: Environment = ARMS
    assert arms.k == 2
    assert (ARMS.d, ARMS.rounds, ARMS.noise_sd) == (2, 3, 0.0)
    assert ARMS.contexts_at(2).tolist() == [[1, 1], [0, 2]]
    assert ARMS.means.tolist() == [[0.75, 0.25], [1.0, 0.5], [0.0, 2.0]]
    assert repr(ARMS) == "<LinearContexts: 2 arms, 3 rounds, contexts of 2 numbers>"
    with pytest.raises(ValueError, match="read-only"):
        ARMS.contexts[0, 0, 0] = 0.1


@given(seeds, st.integers(1, 3), st.integers(0, 1))
def test_without_noise_it_pays_the_mean(seed: int, t: int, arm: int) -> None:
    assert ARMS.start(seed)(decision(t, arm)) == ARMS.means[t - 1, arm]


@given(seeds, st.lists(st.integers(1, 1500), unique=True, max_size=20))
def test_noise_depends_on_seed_and_round_alone(seed: int, order: list[int]) -> None:
    arms = LinearContexts(np.zeros((1500, 2, 1)), [1.0])
    pull, again = arms.start(seed), arms.start(seed)
    noise = {t: pull(decision(t, 0)) for t in order}
    assert {t: again(decision(t, 1)) for t in sorted(noise)} == noise
    low, high = arms.reward_range
    assert all(low <= value <= high for value in noise.values())


def test_noise_is_normal() -> None:
    pull = LinearContexts(np.zeros((4000, 1, 1)), [1.0], noise_sd=2.0).start(3)
    noise = np.array([pull(decision(t)) for t in range(1, 4001)])
    assert abs(noise.mean()) < 0.15
    assert noise.std() == pytest.approx(2.0, abs=0.1)
    assert (np.abs(noise) < 2.0).mean() == pytest.approx(0.683, abs=0.03)


def test_regret_is_what_the_best_arm_pays_more() -> None:
    assert ARMS.regrets([0, 1, 0]).tolist() == [0.0, 0.5, 2.0]
    assert ARMS.regret([0, 1, 0]) == 2.5
    assert ARMS.regret([1]) == 0.5
    assert ARMS.regret([]) == 0.0
    for arms in ([0, 0, 0, 0], [[0]]):
        with pytest.raises(InputError, match="of at most 3 arms"):
            ARMS.regret(arms)  # type: ignore[arg-type]
    for arm in (-1, 2):
        with pytest.raises(InputError, match="not one of 0 to 1"):
            ARMS.regret([0, arm])


@pytest.mark.parametrize("t", [0, -1, 4])
def test_rounds_beyond_the_table_are_refused(t: int) -> None:
    with pytest.raises(InputError, match=f"rounds 1 to 3, not for round {t}"):
        ARMS.contexts_at(t)
    with pytest.raises(InputError, match="a smaller budget"):
        ARMS.start(7)(decision(t))


@pytest.mark.parametrize("arm", [-1, 2])
def test_an_arm_that_is_not_there_is_refused(arm: int) -> None:
    with pytest.raises(InputError, match="only arms 0 to 1"):
        ARMS.start(0)(decision(1, arm))


@pytest.mark.parametrize(
    ("contexts", "theta", "noise_sd", "complaint"),
    [
        ([], [1.0], 0.5, "shape"),
        ([[[]]], [1.0], 0.5, "shape"),
        ([[1.0, 2.0]], [1.0], 0.5, "shape"),
        ([[[1.0]], [[1.0], [2.0]]], [1.0], 0.5, "shape"),
        ([[["x"]]], [1.0], 0.5, "not a number"),
        ([[[nan]]], [1.0], 0.5, "contexts holds a number that is not finite"),
        ([[[1.0]]], [inf], 0.5, "theta holds a number that is not finite"),
        ([[[1.0]]], [1.0, 2.0], 0.5, "theta has 2 numbers where 1 are needed"),
        ([[[1.0]]], [1.0], -1.0, "noise_sd is -1.0"),
        ([[[1.0]]], [1.0], nan, "noise_sd is nan"),
    ],
)
def test_unusable_tables_are_refused(
    contexts: list[list[list[float]]], theta: list[float], noise_sd: float, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        LinearContexts(contexts, theta, noise_sd=noise_sd)


@given(seeds)
def test_the_toy_problem(seed: int) -> None:
    toy = LinearContexts.toy(seed=seed)
    assert (toy.rounds, toy.k, toy.d, toy.noise_sd) == (130, 2, 2, 0.5)
    assert len({tuple(x) for x in toy.contexts.reshape(-1, 2).tolist()}) == 4
    assert not np.any(np.all(toy.contexts[:, 0] == toy.contexts[:, 1], axis=1))
    assert np.sqrt(np.square(toy.contexts).sum(axis=2)).max() <= 5.5
    assert np.square(toy.theta).sum() <= 1 + 1e-12
    assert np.abs(toy.means).max() <= 1 + 1e-12
    longer = LinearContexts.toy(200, seed=seed)
    assert np.array_equal(longer.contexts[:130], toy.contexts)
    assert np.array_equal(longer.theta, toy.theta)


def test_each_two_of_the_four_are_offered_equally_often() -> None:
    toy = LinearContexts.toy(6000, seed=5)
    offers = Counter(tuple(map(tuple, pair)) for pair in toy.contexts.tolist())
    assert len(offers) == 12
    assert all(400 <= count <= 600 for count in offers.values())


@given(seeds, st.integers(1, 6), st.integers(1, 5), st.none() | st.integers(5, 12))
def test_random_problems_keep_their_bounds(seed: int, d: int, arms: int, pool: int | None) -> None:
    made = LinearContexts.random(20, arms=arms, d=d, seed=seed, pool=pool, length=3.0)
    assert (made.rounds, made.k, made.d) == (20, arms, d)
    assert np.sqrt(np.square(made.contexts).sum(axis=2)).max() <= 3.0
    assert sqrt(np.square(made.theta).sum()) <= 1 + 1e-12
    assert np.abs(made.means).max() <= 1 + 1e-12
    again = LinearContexts.random(25, arms=arms, d=d, seed=seed, pool=pool, length=3.0)
    assert np.array_equal(again.contexts[:20], made.contexts)
    assert np.array_equal(again.theta, made.theta)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: LinearContexts.toy(0), "rounds is 0"),
        (lambda: LinearContexts.toy(seed=-1), "seed is -1"),
        (lambda: LinearContexts.random(5, arms=3, d=2, seed=0, pool=2), "pool is 2: .* from 3 up"),
        (lambda: LinearContexts.random(5, arms=0, d=2, seed=0), "arms is 0"),
        (lambda: LinearContexts.random(5, arms=2, d=2.5, seed=0), "d is 2.5"),  # type: ignore[arg-type]
        (lambda: LinearContexts.random(5, arms=2, d=2, seed=0, length=inf), "not finite"),
        (lambda: ARMS.start(1.5), "seed is 1.5"),  # type: ignore[arg-type]
    ],
)
def test_problems_that_cannot_be_drawn(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()

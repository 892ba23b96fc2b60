import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from math import inf, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import BernoulliArms

seeds = st.integers(min_value=0, max_value=2**200)
pull_orders = st.lists(st.integers(0, 2), max_size=60)


def decision(arm: int) -> Decision:
    return Decision("run", 1, arm, "run-1")


def rewards(pull: Callable[[Decision], float], arm: int, count: int) -> list[float]:
    return [pull(decision(arm)) for _ in range(count)]


@given(seeds, pull_orders)
def test_an_arm_pays_the_same_whatever_the_other_arms_do(seed: int, order: list[int]) -> None:
    arms = BernoulliArms([0.3, 0.5, 0.7])
    pull = arms.start(seed)
    mixed: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for arm in order:
        mixed[arm].append(pull(decision(arm)))
    for arm, received in mixed.items():
        assert received == rewards(arms.start(seed), arm, len(received))


@given(seeds, pull_orders)
def test_one_seed_gives_the_same_run_twice(seed: int, order: list[int]) -> None:
    arms = BernoulliArms([0.3, 0.5, 0.7])
    first, second = arms.start(seed), arms.start(seed)
    assert [first(decision(arm)) for arm in order] == [second(decision(arm)) for arm in order]


def test_runs_do_not_share_state() -> None:
    arms = BernoulliArms([0.5])
    alone = rewards(arms.start(7), 0, 50)
    first, second = arms.start(7), arms.start(7)
    interleaved = [(first(decision(0)), second(decision(0))) for _ in range(50)]
    assert interleaved == list(zip(alone, alone, strict=True))


def test_seeds_and_arms_have_streams_of_their_own() -> None:
    arms = BernoulliArms([0.5, 0.5])
    streams = [rewards(arms.start(seed), arm, 200) for seed in (7, 8) for arm in (0, 1)]
    assert len({tuple(stream) for stream in streams}) == 4
    agreement = np.corrcoef(np.array(streams)) - np.eye(4)
    assert np.abs(agreement).max() < 4 / sqrt(200)


def test_the_stream_is_pinned_across_chunks() -> None:
    sequence = np.random.SeedSequence(7, spawn_key=(1,))
    uniform = np.random.Generator(np.random.PCG64(sequence)).random(3000)
    pull = BernoulliArms([0.9, 0.4]).start(7)
    assert rewards(pull, 1, 3000) == (uniform < 0.4).astype(float).tolist()


@pytest.mark.parametrize("mean", [0.01, 0.3, 0.5, 0.97])
def test_the_average_reward_is_near_the_mean(mean: float) -> None:
    count = 20_000
    average = sum(rewards(BernoulliArms([mean]).start(11), 0, count)) / count
    assert abs(average - mean) < 4 * sqrt(mean * (1 - mean) / count)


def test_certain_arms_are_certain() -> None:
    pull = BernoulliArms([0, 1]).start(0)
    assert set(rewards(pull, 0, 3000)) == {0.0}
    assert set(rewards(pull, 1, 3000)) == {1.0}


def test_rewards_are_plain_floats() -> None:
    assert type(BernoulliArms([0.5]).start(3)(decision(0))) is float


@given(st.lists(st.floats(0, 1), min_size=1))
def test_means_are_kept(means: list[float]) -> None:
    arms = BernoulliArms(means)
    assert arms.means == tuple(means)
    assert arms.k == len(means)
    assert arms.reward_range == (0.0, 1.0)
    assert BernoulliArms(np.array(means).tolist()) == arms
    assert pickle.loads(pickle.dumps(arms)) == arms  # noqa: S301


def test_a_numpy_vector_of_means_is_accepted() -> None:
    arms = BernoulliArms(list(np.array([0.25, 1], dtype=np.float32)))
    assert arms.means == (0.25, 1.0)
    assert all(type(mean) is float for mean in arms.means)


def test_arms_cannot_be_changed() -> None:
    arms = BernoulliArms([0.5])
    with pytest.raises(FrozenInstanceError):
        arms.means = (0.9,)  # type: ignore[misc]


def test_no_arms_are_refused() -> None:
    with pytest.raises(InputError, match="no arms"):
        BernoulliArms([])


@pytest.mark.parametrize("mean", [-0.1, 1.1, nan, inf, -inf, "0.5", None, 0.5j])
def test_a_mean_that_is_no_probability_is_refused(mean: float) -> None:
    with pytest.raises(InputError, match=r"arm 1 has mean .*0 to 1") as caught:
        BernoulliArms([0.5, mean])
    assert repr(mean) in str(caught.value)


@pytest.mark.parametrize("arm", [-1, 2, 10**9])
def test_an_arm_that_does_not_exist_is_refused(arm: int) -> None:
    pull = BernoulliArms([0.5, 0.5]).start(0)
    with pytest.raises(InputError, match=f"run-1 names arm {arm}.*arms 0 to 1"):
        pull(decision(arm))


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None])
def test_a_seed_that_is_no_natural_number_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match="seed"):
        BernoulliArms([0.5]).start(seed)

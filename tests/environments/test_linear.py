from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import Environment, LinearArms
from lotor.environments.linear import normal_draws


def decision(t: int, arm: int = 0) -> Decision:
    return Decision.named("demo", t, arm)


@given(st.integers(0, 2**48), st.lists(st.integers(1, 5000), min_size=1, max_size=20))
def test_noise_depends_on_seed_and_round_alone(seed: int, rounds: list[int]) -> None:
    arms = LinearArms([[1, 2], [3, -1]], [0.5, 0.25])
    pull, again = arms.start(seed), arms.start(seed)
    rewards = {t: pull(decision(t)) for t in rounds}
    for t in sorted(rounds, reverse=True):
        assert again(decision(t)) == rewards[t]
        assert again(decision(t, 1)) - rewards[t] == pytest.approx(0.25)


def test_noise_has_its_standard_deviation_and_differs_by_seed() -> None:
    arms: Environment = LinearArms([[1.0], [2.0]], [3.0], noise_sd=0.5)
    pull, other = arms.start(1), arms.start(2)
    noise = np.array([pull(decision(t)) for t in range(1, 5001)]) - 3.0
    assert abs(noise.mean()) < 0.03
    assert noise.std() == pytest.approx(0.5, abs=0.03)
    assert other(decision(1)) != pull(decision(1))


def test_draws_are_pinned() -> None:
    expected = [0.8339989, -1.6155679, 0.2310219]
    assert normal_draws(3, 7, 0) == pytest.approx(expected, abs=1e-6)


def test_given_noise_is_used_round_by_round() -> None:
    arms = LinearArms([[1.0], [2.0]], [1.0], noise=[0.5, -0.5])
    pull = arms.start(0)
    assert [pull(decision(1, 1)), pull(decision(2, 0))] == [2.5, 0.5]
    with pytest.raises(InputError, match="noise was given for 2 rounds only, and this is round 3"):
        pull(decision(3))


@given(st.integers(0, 2**32))
def test_every_reward_lies_in_the_range(seed: int) -> None:
    generator = np.random.default_rng(seed)
    arms = LinearArms(generator.normal(size=(4, 3)), generator.normal(size=3))
    low, high = arms.reward_range
    pull = arms.start(seed)
    assert all(low <= pull(decision(t, t % 4)) <= high for t in range(1, 30))
    assert low <= arms.means.min() - 8.3 * 0.1
    assert arms.means.max() + 8.3 * 0.1 <= high


def test_the_range_of_nothing_is_not_empty() -> None:
    assert LinearArms([[1.0], [2.0]], [0.0], noise_sd=0).reward_range == (-1.0, 1.0)
    assert LinearArms([[1.0], [2.0]], [0.0], noise=[]).reward_range == (-1.0, 1.0)


def test_what_it_carries() -> None:
    arms = LinearArms([[1, 0, 2], [0, 1, 1]], [0.125, 0.25, 0.5], first=1)
    assert (arms.k, arms.d, arms.first, arms.noise_sd, arms.eigenvalues) == (2, 3, 1, 0.1, None)
    assert arms.means.tolist() == [1.125, 0.75]
    assert repr(arms) == "<LinearArms: 2 arms in 3 dimensions>"
    with pytest.raises(ValueError, match="read-only"):
        arms.theta[0] = 1.0


@pytest.mark.parametrize(
    ("vectors", "theta", "options", "complaint"),
    [
        ([[1.0]], [1.0], {}, "nothing to choose"),
        ([[], []], [], {}, "zero dimensions"),
        ([[1.0], [nan]], [1.0], {}, "vectors holds a number that is not finite"),
        ([[1.0], [2.0]], [inf], {}, "theta holds a number that is not finite"),
        ([[1.0], [2.0]], [1.0, 2.0], {}, "theta has 2 numbers where 1 are needed"),
        ([[1.0], [2.0]], [1.0], {"noise_sd": -0.1}, "noise_sd"),
        ([[1.0], [2.0]], [1.0], {"noise_sd": nan}, "noise_sd"),
        ([[1.0], [2.0]], [1.0], {"noise": [nan]}, "noise holds"),
        ([[1.0], [2.0]], [1.0], {"first": 2}, "give an arm from 0 to 1"),
        ([[1.0], [2.0]], [1.0], {"first": 0.5}, "give an arm from 0 to 1"),
    ],
)
def test_unusable_arms_are_refused(
    vectors: list[list[float]], theta: list[float], options: dict[str, float], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        LinearArms(vectors, theta, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 1.5])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(InputError, match="seed"):
        LinearArms([[1.0], [2.0]], [1.0]).start(seed)


@pytest.mark.parametrize("arm", [-1, 2])
def test_an_arm_that_is_not_there_is_refused(arm: int) -> None:
    with pytest.raises(InputError, match="only arms 0 to 1"):
        LinearArms([[1.0], [2.0]], [1.0]).start(0)(decision(1, arm))

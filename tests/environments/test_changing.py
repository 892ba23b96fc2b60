import pickle
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import ChangingArms

ARMS = ChangingArms([(1, [0.9, 0.2]), (10, [0.5, 0.5]), (2000, [0.0, 1.0])])


def decision(arm: int, t: int) -> Decision:
    return Decision("run", t, arm, "run-1")


@given(st.integers(0, 2**60), st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3000))))
def test_a_reward_depends_on_seed_arm_and_round_alone(
    seed: int, asked: list[tuple[int, int]]
) -> None:
    pull = ARMS.start(seed)
    paid = [pull(decision(arm, t)) for arm, t in asked]
    assert paid == [ARMS.start(seed)(decision(arm, t)) for arm, t in asked]


@given(st.integers(1, 4000))
def test_each_round_has_the_means_of_its_phase(t: int) -> None:
    assert ARMS.means_at(t) == ((0.9, 0.2) if t < 10 else (0.5, 0.5) if t < 2000 else (0.0, 1.0))


def test_rewards_follow_the_means() -> None:
    arms = ChangingArms([(1, [0.3]), (5001, [0.8])])
    pull = arms.start(3)
    for mean, rounds in ((0.3, range(1, 5001)), (0.8, range(5001, 10001))):
        average = sum(pull(decision(0, t)) for t in rounds) / 5000
        assert abs(average - mean) < 4 * sqrt(mean * (1 - mean) / 5000)


def test_seeds_and_arms_have_draws_of_their_own() -> None:
    arms = ChangingArms([(1, [0.5, 0.5])])
    paid = {
        tuple(arms.start(seed)(decision(arm, t)) for t in range(1, 101))
        for seed in (1, 2)
        for arm in (0, 1)
    }
    assert len(paid) == 4


def test_what_it_is() -> None:
    assert (ARMS.k, ARMS.reward_range) == (2, (0.0, 1.0))
    assert pickle.loads(pickle.dumps(ARMS)) == ARMS  # noqa: S301


@pytest.mark.parametrize(
    ("phases", "complaint"),
    [
        ([], "begin with the rounds"),
        ([(2, [0.5])], "first begin with round 1"),
        ([(1, [0.5]), (1, [0.4])], "after the one before"),
        ([(1, [0.5]), (9, [0.4]), (3, [0.4])], "after the one before"),
        ([(1, [0.5]), (9, [0.4, 0.3])], "has 1 arms and another has 2"),
        ([(1, [1.5])], "arm 0 has mean 1.5"),
        ([(1.5, [0.5])], "phase 1 begins with 1.5"),
        ([0.5], "phase 1 is 0.5"),
    ],
)
def test_phases_that_cannot_be_are_refused(phases: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ChangingArms(phases)  # type: ignore[arg-type]


def test_rounds_arms_and_seeds_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="no round 0"):
        ARMS.means_at(0)
    with pytest.raises(InputError, match=r"names arm 2.*arms 0 to 1"):
        ARMS.start(1)(decision(2, 1))
    with pytest.raises(InputError, match="seed"):
        ARMS.start(-1)


def test_names_belong_to_means_in_any_order() -> None:
    arms = ChangingArms([(1, {"A": 0.9, "B": 0.1}), (50, {"B": 0.2, "A": 0.8})])
    assert arms.names == ("A", "B")
    assert (arms.means_at(49), arms.means_at(50)) == ((0.9, 0.1), (0.8, 0.2))
    assert lotor.run(lotor.UCB(), arms, budget=60, seed=1).names == ["A", "B"]


@pytest.mark.parametrize("second", [{"A": 0.1, "C": 0.2}, {"A": 0.1}, [0.1, 0.2]])
def test_other_names_in_another_phase_are_refused(second: dict[str, float] | list[float]) -> None:
    with pytest.raises(InputError, match=r"name the\s+same arms|mean of every arm"):
        ChangingArms([(1, {"A": 0.9, "B": 0.1}), (50, second)])


def test_regret_is_that_of_the_means_of_each_round() -> None:
    arms = ChangingArms([(1, [0.75, 0.25]), (3, [0.25, 1.0])])
    assert arms.regrets([0, 1, 0, 1]).tolist() == [0.0, 0.5, 0.75, 0.0]
    assert arms.regrets([]).tolist() == []
    result = lotor.run(lotor.SlidingWindowUCB(tau=20), arms, budget=50, seed=1)
    assert result.regret()[-1] == sum(arms.regrets(result.arms or []))

from fractions import Fraction

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lotor.policies import REWARD_ONE, UCB, ArmSnapshot, ArmStates, Policy, Pursuit

ARMS = 3
pulls = st.lists(st.tuples(st.integers(0, ARMS - 1), st.integers(0, REWARD_ONE)), max_size=40)


def pulled(history: list[tuple[int, int]]) -> ArmStates:
    arms = ArmStates(ARMS, 10)
    for i, reward in history:
        arms.add(i, reward)
    return arms


@given(pulls)
def test_sums_are_exact_and_means_correctly_rounded(history: list[tuple[int, int]]) -> None:
    arms = pulled(history)
    for arm in range(ARMS):
        rewards = [reward for i, reward in history if i == arm]
        assert (arms.n[arm], arms.s[arm]) == (len(rewards), sum(rewards))
        exact = Fraction(sum(rewards), len(rewards) * REWARD_ONE) if rewards else Fraction(0)
        assert arms.mean[arm] == float(exact)


@given(st.integers(1, 2**31 - 2), st.data())
def test_means_stay_exact_after_billions_of_pulls(n: int, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, n * REWARD_ONE))
    arms = ArmStates.restore(ArmSnapshot(k=1, n=[n], s=[s], own={}))
    assert arms.mean[0] == float(Fraction(s, n * REWARD_ONE))
    arms.add(0, REWARD_ONE)
    assert arms.mean[0] == float(Fraction(s + REWARD_ONE, (n + 1) * REWARD_ONE))


@given(pulls, st.lists(st.floats(allow_nan=False), min_size=ARMS, max_size=ARMS))
def test_a_snapshot_survives_the_wire(history: list[tuple[int, int]], own: list[float]) -> None:
    arms = pulled(history)
    arms.own["p"] = np.array(own)
    wire = msgspec.msgpack.encode(arms.snapshot())
    back = ArmStates.restore(msgspec.msgpack.decode(wire, type=ArmSnapshot))
    assert (len(back), back.k) == (ARMS, 10)
    for before, after in ((arms.n, back.n), (arms.s, back.s), (arms.mean, back.mean)):
        assert before.dtype == after.dtype
        assert before.tobytes() == after.tobytes()
    assert back.own["p"].tobytes() == arms.own["p"].tobytes()
    assert back.snapshot() == arms.snapshot()


def test_a_snapshot_is_a_copy_and_shows_no_data_in_its_repr() -> None:
    arms = pulled([(0, REWARD_ONE)])
    arms.own["p"] = np.ones(ARMS)
    snapshot = arms.snapshot()
    arms.add(0, 0)
    arms.own["p"] += 1
    assert (snapshot.n, snapshot.own) == ([1, 0, 0], {"p": [1.0, 1.0, 1.0]})
    assert repr(snapshot) == "<ArmSnapshot of 3 arms>"


def test_defaults_of_a_policy() -> None:
    policy = UCB()
    assert (UCB.iterations, Pursuit.iterations, Policy.iterations) == (1, 2, 1)
    assert policy.select([3 << 64, (7 << 64) + 1, 7 << 64], 4, 1) == 1

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.crypto.prf import Prf
from lotor.policies import REWARD_ONE, UCB, ArmSnapshot, ArmStates, Draws


def test_the_formula() -> None:
    snapshot = ArmSnapshot(k=3, n=[1, 4, 10], s=[0, 3 * REWARD_ONE, 10 * REWARD_ONE], own={})
    draw = Draws(Prf(bytes(32), range(3)), Prf(bytes(32)))
    scores = UCB().score(ArmStates.restore(snapshot), 16, 1, draw).tolist()
    assert scores == [
        sqrt(2 * log(16)),
        0.75 + sqrt(2 * log(16) / 4),
        1.0 + sqrt(2 * log(16) / 10),
    ]
    # 2 ln 16 = 5.5452 by hand.
    assert scores == pytest.approx([2.3548, 1.9274, 1.7447], abs=1e-4)


@given(
    st.lists(st.tuples(st.integers(1, 1 << 31), st.floats(0, 1)), min_size=2, max_size=5),
    st.integers(2, 1 << 31),
)
def test_an_arm_has_the_same_score_alone_and_among_others(
    arms: list[tuple[int, float]], t: int
) -> None:
    n = [pulls for pulls, _ in arms]
    s = [round(pulls * mean * REWARD_ONE) for pulls, mean in arms]
    draw = Draws(Prf(bytes(32)), Prf(bytes(32)))

    def scores(i: int, j: int) -> list[float]:
        held = ArmStates.restore(ArmSnapshot(k=len(arms), n=n[i:j], s=s[i:j], own={}))
        return list(UCB().score(held, t, 1, draw))

    assert scores(0, len(arms)) == [one for i in range(len(arms)) for one in scores(i, i + 1)]

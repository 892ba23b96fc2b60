from math import log, sqrt

import pytest

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

"""What u and k are off by adds up in A⁻¹: with how many bits it lasts how long."""

import numpy as np
import pytest

import lotor
from lotor.core.fixed_point import Floats
from lotor.crypto.sharing import to_floats
from lotor.protocols.ppcb import chosen_arm, shape
from lotor.protocols.ppcb.dealt import all_arms, gadgets
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.terms import FIRST, MOST_STEPS, SECOND
from protocols.ppcb.stage import ONE_ARM_LEARNS, learning, play

INNER, D = 14, 3


@pytest.mark.parametrize("learns", ONE_ARM_LEARNS)
def test_the_inverse_lasts_as_long_as_runs_may_be(
    learns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer bits, and as many fewer steps: n^1.5 goes with 2^bits."""
    steps = int(MOST_STEPS / 2 ** ((shape.INNER_BITS - INNER) / 1.5))
    for module in (shape, all_arms, chosen_arm, gadgets):
        monkeypatch.setattr(module, "INNER_BITS", INNER)
    rng = np.random.default_rng(5)
    contexts = np.abs(rng.normal(size=(steps, D)))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * 1.001
    arms = lotor.ContextualArms(contexts, np.column_stack([np.ones(steps), np.zeros(steps)]))
    with learning(one_arm=ONE_ARM_LEARNS[learns]):
        outcome = play(lotor.PPCB(epsilon=0.0, bits=16, form="dealt"), arms, budget=steps)
    assert outcome.arms.count(0) > 0.9 * steps
    inverse = inverse_of(outcome.parties[FIRST], outcome.parties[SECOND], arm=0)
    pulled = contexts[np.array(outcome.arms) == 0]
    exact = np.linalg.inv(np.eye(D) + pulled.T @ pulled)
    assert np.linalg.eigvalsh(inverse)[0] > 0
    assert np.abs(inverse - exact).max() < 0.01


def inverse_of(first: object, second: object, arm: int) -> Floats:
    assert isinstance(first, PPCBServer)
    assert isinstance(second, PPCBServer)
    rows = first._model.table.share[arm] + second._model.table.share[arm]
    return to_floats(rows, 2 * INNER)[shape.whole_rows(D)[:D]]

"""The paper's fixed point: exact where nothing fails, and wrong as often as it says."""

import numpy as np
import pytest

import lotor
from lotor.protocols.ppcb.figures.paper_arithmetic import PaperArithmetic, PaperModel, Wraps

LARGE = 1 << 62
"""Its shares wrap around once in four times."""


def model(wraps: Wraps, bits: int = 20, iterations: int = 7) -> PaperModel:
    return PaperArithmetic(0.1, bits, iterations, wraps, seed=7).start(2, 3)


@pytest.mark.parametrize("wraps", ["ignored", "counted"])
def test_a_share_is_cut_up_or_down_and_unbiased(wraps: Wraps) -> None:
    z = np.full(20_000, -(5 << 20) + (1 << 18))
    cut = model(wraps).cut(z)
    assert set(cut.tolist()) == {-5, -4}
    assert abs(cut.mean() - -4.75) < 0.02


@pytest.mark.parametrize(("wraps", "failing"), [("ignored", 0.25), ("counted", 0.0)])
def test_a_cut_fails_as_often_as_shares_wrap_around(wraps: Wraps, failing: float) -> None:
    z = np.array([LARGE, -LARGE] * 5_000)
    off = np.abs(model(wraps).cut(z) - (z >> 20))
    failed = off > 1
    assert abs(failed.mean() - failing) < 0.02
    assert set(off[failed].tolist()) <= {(1 << 44) - 1, 1 << 44, (1 << 44) + 1}


@pytest.mark.parametrize("x", [1.0, 1.3, 2.0, 5.0])
def test_seven_iterations_give_the_reciprocal_and_one_does_not(x: float) -> None:
    many, one = (
        model("counted", 24, iterations).reciprocal(np.array([round(x * 2**24)])) / 2**24
        for iterations in (7, 1)
    )
    assert abs(many[0] * x - 1) < 1e-4
    assert abs(one[0] * x - 1) > 0.01


def test_where_nothing_fails_it_decides_as_plain_does() -> None:
    arms = lotor.ContextualArms.lookalike(rounds=400, arms=4, d=6, seed=1)
    plain = lotor.run(lotor.LinearEpsilonGreedy(0.1), arms, budget=400, seed=1)
    paper = lotor.run(PaperArithmetic(0.1, 24, wraps="counted"), arms, budget=400, seed=1)
    assert paper.arms == plain.arms


@pytest.mark.parametrize(("bits", "wraps"), [(28, "ignored"), (8, "counted")])
def test_too_many_bits_fail_and_too_few_lose(bits: int, wraps: Wraps) -> None:
    arms = lotor.ContextualArms.lookalike(rounds=600, arms=4, d=20, seed=1)
    plain = lotor.run(lotor.LinearEpsilonGreedy(0.1), arms, budget=600, seed=1)
    paper = lotor.run(PaperArithmetic(0.1, bits, wraps=wraps), arms, budget=600, seed=1)
    assert paper.reward < plain.reward - 60

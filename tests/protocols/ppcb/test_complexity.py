"""What complexity.py says of single operations is what their circuits take."""

import numpy as np
import pytest

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.crypto.sharing import (
    TOURNAMENT,
    Circuit,
    Engine,
    Recipe,
    Shared,
    argmax,
    mask,
    multiply,
    reciprocal,
    together,
    truncate,
)
from lotor.crypto.sharing.comparison import MANY
from lotor.protocols.ppcb.complexity import OURS, per_step


def zeros(count: int) -> Shared:
    return Shared(np.zeros(count, np.uint64), first=False)


def product(engine: Engine) -> Circuit[object]:
    """Of masked values, with its truncation: the masks are opened with whatever came before."""
    x, y = yield from together(mask(engine, zeros(1)), mask(engine, zeros(1)))
    return (yield from truncate(engine, multiply(engine, x, y), 20))


def test_multiplication_and_reciprocal() -> None:
    inputs = 1  # the round that masks them
    assert Recipe.of(product).rounds - inputs == int(OURS["multiplication"])
    rounds = Recipe.of(lambda engine: reciprocal(engine, zeros(1), 28, 48)).rounds
    assert rounds == int(OURS["reciprocal"])


@pytest.mark.parametrize("arms", [2, 3, 5, 9, 10, 17, 100, TOURNAMENT - 1])
def test_argmax(arms: int) -> None:
    rounds = Recipe.of(lambda engine: argmax(engine, zeros(arms))).rounds
    assert OURS["argmax"] == "4 or 7"
    assert rounds == (4 if arms * (arms - 1) // 2 < MANY else 7)


@pytest.mark.parametrize(("arms", "rounds"), [(2, 6), (10, 6), (20, 6), (21, 9), (100, 9)])
def test_a_step(arms: int, rounds: int) -> None:
    terms = lotor.PPCB().terms("run", budget=9, arms=arms, owners={"a": 3}, scale=RewardScale())
    assert per_step(terms)["rounds"] == rounds

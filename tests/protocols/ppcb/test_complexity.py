"""What complexity.py says of single operations is what their circuits take."""

import numpy as np
import pytest

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
from lotor.protocols.ppcb.complexity import OURS


def zeros(count: int) -> Shared:
    return Shared(np.zeros(count, np.uint64), first=False)


def product(engine: Engine) -> Circuit[object]:
    """Of masked values, with its truncation: the masks are opened with whatever came before."""
    x, y = yield from together(mask(engine, zeros(1)), mask(engine, zeros(1)))
    return (yield from truncate(engine, multiply(engine, x, y), 20))


def test_multiplication_and_reciprocal() -> None:
    inputs = 1  # the round that masks them
    assert Recipe.of(product).rounds - inputs == int(OURS["multiplication"])
    rounds = Recipe.of(lambda engine: reciprocal(engine, zeros(1), 20, 40)).rounds
    assert rounds == int(OURS["reciprocal"])


@pytest.mark.parametrize("arms", [2, 3, 5, 9, 10, 17, 100, TOURNAMENT - 1])
def test_argmax(arms: int) -> None:
    rounds = Recipe.of(lambda engine: argmax(engine, zeros(arms))).rounds
    assert OURS["argmax"] == "6 + log2 (A - 1)"
    assert rounds == 6 + (arms - 2).bit_length()

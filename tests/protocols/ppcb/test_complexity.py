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
from lotor.protocols.ppcb.dealt.circuits import (
    AllArmsCircuits,
    ChosenArmCircuits,
    cheapest_circuits,
)
from lotor.protocols.ppcb.dealt.complexity import OURS, per_step
from lotor.protocols.ppcb.dealt.sizes import one_arm_learns
from lotor.protocols.ppcb.terms import PPCBTerms


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


def terms_of(arms: int, features: int = 3, *, delay: int = 0) -> PPCBTerms:
    ppcb = lotor.PPCB(delay=delay, form="dealt")
    owners = {"a": features}
    return ppcb.terms("run", budget=9, arms=arms, owners=owners, scale=RewardScale())


@pytest.mark.parametrize(("arms", "rounds"), [(2, 6), (10, 6), (20, 6), (21, 9), (100, 9)])
def test_a_step_where_every_arms_update_is_computed(arms: int, rounds: int) -> None:
    assert per_step(AllArmsCircuits(terms_of(arms)))["rounds"] == rounds


@pytest.mark.parametrize(("arms", "rounds"), [(2, 15), (10, 15), (20, 15), (21, 18), (100, 18)])
@pytest.mark.parametrize("delay", [0, 1])
def test_a_step_where_only_the_chosen_arm_learns(arms: int, rounds: int, delay: int) -> None:
    circuits = ChosenArmCircuits(terms_of(arms, delay=delay))
    assert per_step(circuits)["rounds"] == rounds
    assert circuits.choose.recipe.rounds == rounds - 10  # so that the arm is told as early


@pytest.mark.parametrize(
    ("arms", "features", "one_arm"),
    [
        *((2, 1024, False), (10, 20, False), (20, 20, False), (30, 10, False)),
        *((10, 40, True), (30, 20, True), (50, 10, True), (150, 5, True), (10, 100, True)),
    ],
)
def test_where_only_the_chosen_arm_learns(arms: int, features: int, one_arm: bool) -> None:
    assert one_arm_learns(arms, features) == one_arm


@pytest.mark.parametrize(("arms", "features"), [(3, 120), (10, 40), (50, 10), (250, 1)])
@pytest.mark.parametrize("delay", [0, 1])
def test_it_is_dealt_far_less_where_only_the_chosen_arm_learns(
    arms: int, features: int, delay: int
) -> None:
    """Enough that at a gigabit it is worth nine rounds of 200 µs, or nearly so."""
    terms = terms_of(arms, features, delay=delay)
    assert isinstance(cheapest_circuits(terms), ChosenArmCircuits)
    every, chosen = (per_step(kind(terms)) for kind in (AllArmsCircuits, ChosenArmCircuits))
    assert every["correction_bytes"] - chosen["correction_bytes"] > 140_000
    assert every["opened_bytes"] > chosen["opened_bytes"]

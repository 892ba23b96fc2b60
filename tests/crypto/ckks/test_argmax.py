"""The largest of several is found, and no slot holds more than it should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.ckks.noisy import noisy, part_of_bound
from crypto.ckks.small import small
from lotor.core.errors import InputError, LevelsExhaustedError
from lotor.crypto.ckks import (
    PairLayout,
    levels_of_argmax,
    sign_polynomial,
    winners,
)
from lotor.crypto.ckks.formulas import Array

FINE = sign_polynomial((7, 7, 7, 7), 2.0**-9)
COARSE = sign_polynomial((7, 7), 2.0**-4)


def clear(values: Array, layout: PairLayout, slots: int) -> Array:
    differences = np.tile(layout.spread(values), slots // layout.period) * FINE.factor
    return winners(differences, layout, FINE, slots)


@settings(max_examples=60)
@given(st.integers(2, 12), st.sampled_from([256, 512, 1024]), st.integers(0, 2**32 - 1))
def test_the_largest_wins_and_the_others_lose(arms: int, period: int, seed: int) -> None:
    layout = PairLayout(arms, period)
    rng = np.random.default_rng(seed)
    # All differences are at least 1/64.
    places = np.argsort(rng.random((layout.repetitions, 64)), axis=1)[:, :arms]
    b = layout.read(clear(places / 64, layout, 1024), layout.repetitions)
    best = np.argmax(places, axis=1)
    expected = np.eye(arms)[best]
    assert np.max(np.abs(b - expected)) < arms * FINE.error(1 / 64)


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_every_slot_of_a_column_holds_the_same(arms: int, seed: int) -> None:
    """A slot with a product over some opponents only would tell more than the winner."""
    layout = PairLayout(arms, 512)
    values = np.random.default_rng(seed).random((layout.repetitions, arms))
    b = clear(values, layout, 1024).reshape(-1, layout.columns)
    assert np.max(np.abs(b - b[0])) < 1e-9
    unused = b[:, arms * layout.repetitions :]
    assert np.all(unused == unused[0, 0] if unused.size else True)


def test_every_pair_has_one_slot() -> None:
    layout = PairLayout(5, 64)
    assert len(set(layout.pairs())) == len({(j, k) for j, k, _ in layout.pairs()}) == 20
    table = np.arange(25.0).reshape(1, 5, 5) + 1
    placed = layout.place(table)
    assert sorted(placed[placed != 0]) == sorted(
        table[0, k, other] for k in range(5) for other in range(5) if k != other
    )


@pytest.mark.parametrize(
    ("arms", "opponents", "levels"), [(2, 1, 0), (3, 2, 1), (5, 4, 2), (6, 8, 3), (10, 16, 4)]
)
def test_what_it_costs(arms: int, opponents: int, levels: int) -> None:
    layout = PairLayout(arms, 1024)
    assert (layout.opponents, layout.levels, len(layout.rotations)) == (opponents, levels, levels)
    assert levels_of_argmax(layout, FINE) == 12 + levels


@pytest.mark.parametrize("arms", [2, 3, 5])
def test_encrypted_it_is_the_same(arms: int) -> None:
    layout = PairLayout(arms, 256)
    kit = small(8, tuple(PairLayout(5, 256).rotations))
    slots = kit.parameters.slots
    values = np.random.default_rng(arms).random((layout.repetitions, arms))
    differences = np.tile(layout.spread(values), slots // 256) * COARSE.factor
    levels = levels_of_argmax(layout, COARSE)
    won = winners(kit.encrypt(differences, 8 - levels), layout, COARSE, slots)
    assert won.level == 8
    expected = winners(differences, layout, COARSE, slots)
    (drawn,) = noisy(kit.parameters, differences, level=8 - levels)
    bounds = winners(drawn, layout, COARSE, slots)
    assert part_of_bound(kit.decrypt(won), expected, bounds) < 1


def test_what_does_not_fit_is_refused() -> None:
    for arms, period in ((1, 64), (5, 16), (3, 100), (40, 1024)):
        with pytest.raises(InputError):
            PairLayout(arms, period)
    for arms in range(2, 40):
        least = PairLayout.smallest_period(arms)
        assert PairLayout(arms, least).repetitions == 1
        with pytest.raises(InputError):
            PairLayout(arms, least // 2)
    layout = PairLayout(3, 64)
    for shape in ((1, 4), (layout.repetitions + 1, 3)):
        with pytest.raises(InputError):
            layout.spread(np.zeros(shape))
    with pytest.raises(InputError, match="evenly"):
        winners(np.zeros(96), layout, FINE, 96)
    with pytest.raises(InputError, match="height"):
        winners(np.zeros(64), layout, sign_polynomial((7,), 0.1, height=1.0), 64)


def test_too_few_levels_are_refused_at_once() -> None:
    kit = small(8, tuple(PairLayout(5, 256).rotations))
    before = dict(kit.server.counts)
    with pytest.raises(LevelsExhaustedError, match="needs 14 levels"):
        winners(kit.encrypt(0.5), PairLayout(5, 256), FINE, 512)
    assert kit.server.counts == before

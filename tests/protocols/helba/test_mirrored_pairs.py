"""Pairs in two halves: every arm beside its opponent, and nothing else to read."""

import numpy as np
import pytest
from helba_simulation import check_repetitions
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import sign_polynomial, winners
from lotor.protocols.helba.paper.root_formulas import MirroredPairs
from protocols.helba.stage import paper, setting_of, small

SLOTS = 512


def values_of(arms: int, repetitions: int, seed: int) -> Floats:
    return np.random.default_rng(seed).permuted(
        np.tile(np.linspace(-0.45, 0.45, arms), (repetitions, 1)), axis=1
    )


@given(arms=st.integers(2, 9), repetitions=st.integers(1, 3), seed=st.integers(0, 99))
def test_one_rotation_gives_all_differences(arms: int, repetitions: int, seed: int) -> None:
    pairs = MirroredPairs(arms, SLOTS)
    values = values_of(arms, repetitions, seed)
    both = pairs.both(values)
    assert np.array_equal(both - np.roll(both, -pairs.half), pairs.differences(values))


@given(arms=st.integers(2, 9), repetitions=st.integers(1, 3), seed=st.integers(0, 99))
def test_the_largest_wins_and_nothing_else_is_left(arms: int, repetitions: int, seed: int) -> None:
    pairs, comparison = MirroredPairs(arms, SLOTS), sign_polynomial()
    values = values_of(arms, repetitions, seed)
    differences = pairs.differences(values) * comparison.factor
    won = winners(differences, pairs.layout, comparison, SLOTS)
    b = pairs.read(won, repetitions)
    assert np.array_equal(b.argmax(axis=1), values.argmax(axis=1))
    assert np.all(np.abs(np.sort(b, axis=1)[:, :-1]) < comparison.error(0.1))
    # A slot tells a winner or, if it is of no pair, a public number.
    if arms == 2:
        told = np.concatenate([won[: pairs.half], won[pairs.half :]])
        rest = np.delete(told, [*range(repetitions), *(pairs.half + r for r in range(repetitions))])
        assert np.allclose(rest, 0.5)
    else:
        answers = pairs.answers()
        assert answers.sum() == pairs.repetitions * arms
        assert np.all((won * answers)[pairs.repetitions * arms :] == 0)


@given(arms=st.integers(2, 9), repetitions=st.integers(1, 3))
def test_a_repetitions_number_is_in_all_its_slots(arms: int, repetitions: int) -> None:
    pairs = MirroredPairs(arms, SLOTS)
    numbers = np.arange(1.0, repetitions + 1)
    everywhere = pairs.everywhere(numbers)
    used = pairs.both(np.ones((repetitions, arms))) != 0
    assert set(everywhere[used]) == set(numbers)
    assert np.all(everywhere[~used] == 0)


def test_too_many_repetitions() -> None:
    assert MirroredPairs(3, 64).repetitions == 5
    circuit = setting_of(small(paper(None, 1.0), stages=2), rounds=2, arms=3, d=2).circuit
    check_repetitions(circuit, circuit.repetitions)
    with pytest.raises(InputError, match=f"the slots hold 1 to {circuit.repetitions}"):
        check_repetitions(circuit, circuit.repetitions + 1)

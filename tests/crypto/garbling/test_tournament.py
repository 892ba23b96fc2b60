"""The argmax, against numpy's: the first of equals."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypto.garbling.parties import Bits, plainly, secretly, to_numbers
from lotor.core.errors import InputError
from lotor.crypto.garbling import ArgmaxCircuit, BooleanCircuit, Gates, Wires, bits_of, comparison
from lotor.crypto.garbling.tournament import draw, maximum


def one_hot(numbers: NDArray[np.uint64]) -> Bits:
    """(places, batch): 1 at the first of the largest."""
    first = np.arange(len(numbers))[:, None] == numbers.argmax(axis=0)
    return np.where(first, np.uint8(1), np.uint8(0))


@pytest.mark.parametrize("places", [1, 2, 3, 4, 5])
def test_all_small_numbers(places: int) -> None:
    """Each of them 0, 1 or 2, and so many ties."""
    numbers = np.array(list(product(range(3), repeat=places)), np.uint64).T
    circuit = ArgmaxCircuit(places, 2)
    for run in (secretly, plainly):
        assert np.array_equal(run(circuit, bits_of(numbers, 2)), one_hot(numbers))


@pytest.mark.parametrize("places", [*range(6, 20), 33])
def test_ties_among_many(places: int) -> None:
    numbers = np.random.default_rng(places).integers(0, 2, (places, 40)).astype(np.uint64)
    numbers[:, 0], numbers[:, 1] = 0, 1
    circuit = ArgmaxCircuit(places, 1)
    assert np.array_equal(secretly(circuit, bits_of(numbers, 1)), one_hot(numbers))


@settings(max_examples=25)
@given(st.integers(1, 25), st.integers(1, 3), st.integers(1, 63), st.integers(0, 2**32))
def test_shares_of_real_numbers(places: int, shares: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, 2**width, (shares, places, 3), np.uint64)
    numbers = np.bitwise_xor.reduce(parts)
    circuit = ArgmaxCircuit(places, width, shares=shares)
    found = secretly(circuit, *(bits_of(part, width) for part in parts))
    assert np.array_equal(found, one_hot(numbers))


@pytest.mark.parametrize("ripple", [1, 4, 10**6])
def test_bit_by_bit_and_in_pairs(ripple: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "RIPPLE", ripple)
    numbers = np.random.default_rng(1).integers(0, 2**63, (21, 2)).astype(np.uint64)
    circuit = ArgmaxCircuit(21, 63)
    assert np.array_equal(secretly(circuit, bits_of(numbers, 63)), one_hot(numbers))


def test_many_numbers() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**63, (450, 1)).astype(np.uint64)
    circuit = ArgmaxCircuit(450, 63)
    assert circuit.levels > 63  # the first round goes bit by bit
    assert np.array_equal(secretly(circuit, bits_of(numbers, 63)), one_hot(numbers))


@pytest.mark.parametrize("places", [1, 2, 3, 7])
def test_the_largest_number_itself(places: int) -> None:
    def formula(gates: Gates, x: Wires) -> Wires:
        hot, value = maximum(gates, x)
        return np.concatenate([hot[:, np.newaxis], value])

    numbers = np.random.default_rng(places).integers(0, 2**20, (places, 9)).astype(np.uint64)
    circuit = BooleanCircuit(formula, (20, places))
    found = secretly(circuit, bits_of(numbers, 20))
    assert np.array_equal(found[:places, 0], one_hot(numbers))
    assert to_numbers(found[places:]) == numbers.max(axis=0).tolist()


@pytest.mark.parametrize("count", range(1, 40))
def test_left_contestants_come_before_right_ones(count: int) -> None:
    """Each group is a range of numbers, those of the left half before those of the right one."""
    groups = [[place] for place in draw(count).places.tolist()]
    while len(groups) > 1:
        matches = len(groups) // 2
        pairs = zip(groups[:matches], groups[matches : 2 * matches], strict=True)
        groups = [left + right for left, right in pairs] + groups[2 * matches :]
        assert all(group == sorted(group) for group in groups)
    assert np.array_equal(draw(count).places[draw(count).back], np.arange(count))


@pytest.mark.parametrize(
    ("places", "ands", "levels"),
    [(1, 0, 0), (2, 120, 6), (3, 304, 14), (10, 1592, 30), (100, 18152, 54)],
)
def test_what_an_argmax_of_63_bits_costs(places: int, ands: int, levels: int) -> None:
    circuit = ArgmaxCircuit(places, 63)
    assert (circuit.ands, circuit.levels, circuit.table_bytes) == (ands, levels, 32 * ands)
    assert circuit.inputs == ((63, places),)
    assert circuit.output == (places,)


@pytest.mark.parametrize("arguments", [(0, 63), (3, 0)])
def test_an_argmax_of_nothing_is_refused(arguments: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="at least one of each"):
        ArgmaxCircuit(*arguments)

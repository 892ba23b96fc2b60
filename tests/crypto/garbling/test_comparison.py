"""Comparisons and choices, against Python's."""

import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypto.garbling.parties import every_pair, plainly, secretly, to_bits, to_numbers
from lotor.crypto.garbling import BooleanCircuit, comparison, equal, greater, less, select
from lotor.crypto.garbling.circuit import Formula

COMPARISONS: list[tuple[Formula, Callable[[int, int], bool]]] = [
    (greater, operator.gt),
    (less, operator.lt),
    (equal, operator.eq),
]
words = st.integers(0, 2**63 - 1)
ways = pytest.mark.parametrize("ripple", [1, 200], ids=["bit by bit", "in pairs"])


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize(("formula", "wanted"), COMPARISONS)
@ways
def test_all_small_numbers(
    formula: Formula,
    wanted: Callable[[int, int], bool],
    width: int,
    ripple: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "RIPPLE", ripple)
    x, y = every_pair(width)
    circuit = BooleanCircuit(formula, (width, 1), (width, 1))
    inputs = to_bits(x, width), to_bits(y, width)
    for run in (secretly, plainly):
        assert run(circuit, *inputs)[0, 0].tolist() == list(map(wanted, x, y))


@pytest.mark.parametrize(("formula", "wanted"), COMPARISONS)
@settings(max_examples=20)
@example([(0, 0), (2**63 - 1, 2**63 - 1), (2**62, 2**62 - 1), (1, 0), (0, 2**63 - 1)])
@given(st.lists(st.tuples(words, words) | words.map(lambda x: (x, x ^ 1)), min_size=1, max_size=9))
def test_real_numbers(
    formula: Formula, wanted: Callable[[int, int], bool], numbers: list[tuple[int, int]]
) -> None:
    x, y = zip(*numbers, strict=True)
    circuit = BooleanCircuit(formula, (63, 1), (63, 1))
    found = secretly(circuit, to_bits(x, 63), to_bits(y, 63))[0, 0].tolist()
    assert found == list(map(wanted, x, y))


@ways
def test_a_difference_in_any_single_bit_decides(
    ripple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "RIPPLE", ripple)
    circuit = BooleanCircuit(greater, (63, 1), (63, 1))
    number = 0x5A5A_5A5A_5A5A_5A5A & (2**63 - 1)
    others = [number ^ 1 << place for place in range(63)]
    found = secretly(circuit, to_bits([number] * 63, 63), to_bits(others, 63))[0, 0].tolist()
    assert found == [number > other for other in others]


@pytest.mark.parametrize(
    ("ripple", "width", "ands", "levels"),
    [(200, 63, 120, 6), (1, 63, 63, 63), (200, 1, 1, 1), (200, 2, 2, 2), (200, 59, 112, 6)],
)
def test_what_a_comparison_costs(
    ripple: int, width: int, ands: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "RIPPLE", ripple)
    circuit = BooleanCircuit(greater, (width, 1), (width, 1))
    assert (circuit.ands, circuit.levels) == (ands, levels)


def test_equality_costs_a_gate_less_than_it_has_bits() -> None:
    circuit = BooleanCircuit(equal, (63, 2), (63, 2))
    assert (circuit.ands, circuit.levels) == (124, 6)


def test_select() -> None:
    x, y = every_pair(3)
    for bit in (0, 1):
        circuit = BooleanCircuit(select, (1, 1), (3, 1), (3, 1))
        inputs = np.full((1, 1, len(x)), bit, np.uint8), to_bits(x, 3), to_bits(y, 3)
        assert to_numbers(secretly(circuit, *inputs)) == (y if bit else x)
        assert circuit.ands == 3

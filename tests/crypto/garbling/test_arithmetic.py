"""Sums and differences, against Python's."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.garbling.parties import every_pair, plainly, secretly, to_bits, to_numbers
from lotor.crypto.garbling import (
    BooleanCircuit,
    Gates,
    Wires,
    add,
    add_if,
    add_modulo,
    add_with_carry,
    arithmetic,
    rebuilt,
    subtract,
    subtract_modulo,
    subtract_with_borrow,
)
from lotor.crypto.garbling.circuit import Formula

Wanted = Callable[[int, int], int]
PRIME = 2**61 - 1
words = st.integers(0, 2**63 - 1)
ways = pytest.mark.parametrize("level", [0, 10**6], ids=["bit by bit", "in a tree"])


def by_width(width: int) -> list[tuple[Formula, Wanted]]:
    size = 1 << width
    return [
        (add, lambda x, y: (x + y) % size),
        (add_with_carry, lambda x, y: x + y),
        (subtract, lambda x, y: (x - y) % size),
        (subtract_with_borrow, lambda x, y: (x - y) % (2 * size)),
    ]


def modulo(formula: Callable[..., Wires], modulus: int) -> Formula:
    return partial(_modulo, formula=formula, modulus=modulus)


def _modulo(gates: Gates, x: Wires, y: Wires, formula: Callable[..., Wires], modulus: int) -> Wires:
    return formula(gates, x, y, modulus)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("width", [1, 2, 3, 4, 6])
@ways
def test_all_small_numbers(
    number: int, width: int, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arithmetic, "LEVEL", level)
    formula, wanted = by_width(width)[number]
    x, y = every_pair(width)
    circuit = BooleanCircuit(formula, (width, 1), (width, 1))
    for run in (secretly, plainly):
        found = to_numbers(run(circuit, to_bits(x, width), to_bits(y, width)))
        assert found == list(map(wanted, x, y))


@pytest.mark.parametrize("number", range(4))
@settings(max_examples=10)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=5))
def test_real_numbers(number: int, numbers: list[tuple[int, int]]) -> None:
    formula, wanted = by_width(63)[number]
    x, y = zip(*numbers, strict=True)
    circuit = BooleanCircuit(formula, (63, 1), (63, 1))
    assert to_numbers(secretly(circuit, to_bits(x, 63), to_bits(y, 63))) == list(map(wanted, x, y))


@pytest.mark.parametrize("modulus", [2, 3, 5, 7, 8, 11, 13, 16])
def test_modulo_all_small_numbers(modulus: int) -> None:
    width = max((modulus - 1).bit_length(), 1)
    if modulus == 1 << width:
        width += 1  # the modulus itself must fit
    numbers = list(zip(*every_pair(width, below=modulus), strict=True))
    inputs = [to_bits(column, width) for column in zip(*numbers, strict=True)]
    plus = BooleanCircuit(modulo(add_modulo, modulus), (width, 1), (width, 1))
    assert to_numbers(secretly(plus, *inputs)) == [(x + y) % modulus for x, y in numbers]
    minus = BooleanCircuit(modulo(subtract_modulo, modulus), (width, 1), (width, 1))
    assert to_numbers(secretly(minus, *inputs)) == [(x - y) % modulus for x, y in numbers]


@settings(max_examples=10)
@given(st.lists(st.tuples(*[st.integers(0, PRIME - 1)] * 2), min_size=1, max_size=5))
def test_modulo_a_prime(numbers: list[tuple[int, int]]) -> None:
    inputs = [to_bits(column, 61) for column in zip(*numbers, strict=True)]
    plus = BooleanCircuit(modulo(add_modulo, PRIME), (61, 1), (61, 1))
    assert to_numbers(secretly(plus, *inputs)) == [(x + y) % PRIME for x, y in numbers]
    minus = BooleanCircuit(modulo(subtract_modulo, PRIME), (61, 1), (61, 1))
    assert to_numbers(secretly(minus, *inputs)) == [(x - y) % PRIME for x, y in numbers]


@pytest.mark.parametrize("bit", [0, 1])
def test_add_if(bit: int) -> None:
    x, y = every_pair(3)
    circuit = BooleanCircuit(add_if, (1, 1), (3, 1), (3, 1))
    chooses = np.full((1, 1, len(x)), bit, np.uint8)
    found = to_numbers(secretly(circuit, chooses, to_bits(x, 3), to_bits(y, 3)))
    assert found == [(a + bit * b) % 8 for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("modulus", [2, 3, 5, 7, 8, 11, 13, 16, 19])
@ways
def test_rebuilt_from_all_small_numbers(
    modulus: int, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arithmetic, "LEVEL", level)
    bits = (modulus - 1).bit_length()
    x, y = every_pair(bits, below=modulus)
    less = [number - modulus + (1 << bits) for number in y]
    inputs = [to_bits(numbers, bits) for numbers in (x, y, less)]
    wanted = [(a + b) % modulus for a, b in zip(x, y, strict=True)]
    for width in range(1, bits + 1):
        circuit = BooleanCircuit(partial(rebuilt, width=width), *[(bits, 1)] * 3)
        cut = [number % (1 << width) for number in wanted]
        assert to_numbers(plainly(circuit, *inputs)) == cut
        assert width < bits or to_numbers(secretly(circuit, *inputs)) == cut


@pytest.mark.parametrize(
    ("formula", "few", "many"),
    [
        (add, (166, 10), (62, 62)),
        (add_with_carry, (175, 11), (63, 63)),
        (subtract, (166, 10), (62, 62)),
        (subtract_with_borrow, (175, 11), (63, 63)),
        (modulo(add_modulo, PRIME), (414, 23), (63 + 64 + 63, 63 + 64 + 1)),
        (modulo(subtract_modulo, PRIME), (341, 21), (63 + 62, 63 + 62)),
    ],
)
def test_what_sums_cost(formula: Formula, few: tuple[int, int], many: tuple[int, int]) -> None:
    """Gates for each number, and levels."""
    for places, (ands, levels) in ((1, few), (2, few), (25, many), (100, many)):
        circuit = BooleanCircuit(formula, (63, places), (63, places))
        assert (circuit.ands, circuit.levels) == (ands * places, levels)


@pytest.mark.parametrize(
    ("places", "ands", "levels"), [(2, 654, 20), (100, 122 + 110 + 109, 122 + 1 + 109)]
)
def test_what_rebuilding_costs(places: int, ands: int, levels: int) -> None:
    """All 122 bits are compared, and 110 are chosen and added."""
    circuit = BooleanCircuit(partial(rebuilt, width=110), *[(122, places)] * 3)
    assert (circuit.ands, circuit.levels) == (ands * places, levels)

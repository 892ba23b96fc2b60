"""Square roots, against Python's."""

from math import isqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crypto.garbling.parties import plainly, secretly, to_bits, to_numbers
from lotor.crypto.garbling import BooleanCircuit, arithmetic, square_root


@pytest.mark.parametrize("width", range(1, 13))
@pytest.mark.parametrize("level", [0, 10**6], ids=["bit by bit", "in a tree"])
def test_all_small_numbers(width: int, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "LEVEL", level)
    circuit = BooleanCircuit(square_root, (width, 1))
    assert circuit.output == ((width + 1) // 2, 1)
    numbers = range(1 << width)
    found = to_numbers(plainly(circuit, to_bits(numbers, width)))
    assert found == [isqrt(number) for number in numbers]


def test_under_encryption() -> None:
    circuit = BooleanCircuit(square_root, (9, 1))
    found = to_numbers(secretly(circuit, to_bits(range(512), 9)))
    assert found == [isqrt(number) for number in range(512)]


@example(1, 0)
@example(149, 2**149 - 1)
@example(150, (2**75 - 1) ** 2)
@given(st.integers(1, 160), st.integers(0))
def test_numbers_of_any_width(width: int, number: int) -> None:
    """Near squares, where the last digit turns, and the smallest and largest numbers."""
    circuit = BooleanCircuit(square_root, (width, 1))
    number %= 1 << width
    root = isqrt(number)
    near = [root**2 - 1, root**2, root**2 + 2 * root, (root + 1) ** 2]
    numbers = [n for n in [0, 1, number, *near, (1 << width) - 1] if 0 <= n < 1 << width]
    found = to_numbers(plainly(circuit, to_bits(numbers, width)))
    assert found == [isqrt(n) for n in numbers]


@pytest.mark.parametrize(("places", "ands", "levels"), [(2, 1808, 251), (100, 39 * 40 // 2, 742)])
def test_what_roots_of_78_bits_cost(places: int, ands: int, levels: int) -> None:
    """Gates for each number, and levels: of many numbers, one gate for each digit and step."""
    circuit = BooleanCircuit(square_root, (78, places))
    assert (circuit.ands, circuit.levels) == (ands * places, levels)

"""Sums of products, against Python's."""

from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.garbling.parties import plainly, secretly, to_bits, to_numbers
from lotor.crypto.garbling import BooleanCircuit, Gates, Wires
from lotor.crypto.garbling.multiplication import mean_dropped, products, shifted, summed


def formula(gates: Gates, x: Wires, y: Wires, z: Wires, width: int, dropped: int) -> Wires:
    """x · y / 2^dropped + 8 · z, modulo 2^width."""
    return summed(gates, width, products(gates, x, y, dropped), shifted(z, 3))


def expected(x: int, y: int, z: int, width: int, dropped: int) -> int:
    kept = (
        1 << i + j - dropped
        for i in range(x.bit_length())
        for j in range(y.bit_length())
        if i + j >= dropped and x >> i & 1 and y >> j & 1
    )
    return (sum(kept) + 8 * z) % (1 << width)


@pytest.mark.parametrize("dropped", [0, 1, 3])
@pytest.mark.parametrize("width", [1, 4, 6, 9])
def test_all_small_numbers(width: int, dropped: int) -> None:
    numbers = [(x, y, z) for x in range(8) for y in range(8) for z in range(4)]
    circuit = BooleanCircuit(partial(formula, width=width, dropped=dropped), (3, 1), (3, 1), (2, 1))
    bits = [to_bits(each, k) for each, k in zip(zip(*numbers, strict=True), (3, 3, 2), strict=True)]
    wanted = [expected(*each, width, dropped) for each in numbers]
    for run in (plainly, secretly):
        assert to_numbers(run(circuit, *bits)) == wanted


@given(*[st.integers(1, 20)] * 3, st.integers(1, 45), st.integers(0), st.integers(0), st.data())
def test_numbers_of_any_width(
    a: int, b: int, c: int, width: int, x: int, y: int, data: st.DataObject
) -> None:
    dropped, z = data.draw(st.integers(0, a + b - 2)), data.draw(st.integers(0, (1 << c) - 1))
    x, y = x % (1 << a), y % (1 << b)
    circuit = BooleanCircuit(partial(formula, width=width, dropped=dropped), (a, 1), (b, 1), (c, 1))
    found = to_numbers(plainly(circuit, to_bits([x], a), to_bits([y], b), to_bits([z], c)))
    assert found == [expected(x, y, z, width, dropped)]


@pytest.mark.parametrize("dropped", range(6))
def test_the_mean_of_what_is_dropped(dropped: int) -> None:
    pairs = [(x, y) for x in range(32) for y in range(32)]
    lost = [Fraction(x * y, 1 << dropped) - expected(x, y, 0, 20, dropped) for x, y in pairs]
    assert sum(lost) / len(lost) == mean_dropped(dropped)


def test_what_a_product_costs() -> None:
    """About two gates for each pair of bits, and few levels."""
    circuit = BooleanCircuit(partial(formula, width=32, dropped=0), (16, 1), (16, 1), (29, 1))
    assert (circuit.ands, circuit.levels) == (561, 17)

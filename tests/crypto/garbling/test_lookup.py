"""Tables that are read in a row that nobody sees."""

import random
from functools import partial

import numpy as np
import pytest

from crypto.garbling.parties import plainly, secretly, to_bits, to_numbers
from lotor.crypto.garbling import BooleanCircuit, Gates, Wires
from lotor.crypto.garbling.lookup import decoded, looked_up


def read(gates: Gates, index: Wires, numbers: list[int], width: int) -> Wires:
    return looked_up(gates, decoded(gates, index, len(numbers)), numbers, width)


@pytest.mark.parametrize("count", [*range(1, 35), 129, 258])
def test_every_index(count: int) -> None:
    bits = max(1, (count - 1).bit_length())
    circuit = BooleanCircuit(partial(decoded, count=count), (bits, 1))
    hot = plainly(circuit, to_bits(range(count), bits))
    assert np.array_equal(hot[:, 0], np.eye(count, dtype=np.uint8))


def test_bits_above_the_count_are_not_read() -> None:
    circuit = BooleanCircuit(partial(decoded, count=3), (5, 1))
    assert plainly(circuit, to_bits([2 + 4 + 16], 5)).ravel().tolist() == [0, 0, 1]


@pytest.mark.parametrize("count", [1, 2, 5, 19, 64])
def test_every_row_of_a_table(count: int) -> None:
    """Columns of zeros, of ones, of few and of many ones."""
    rng = random.Random(count)
    numbers = [0b10 | (rng.random() < 0.9) << 2 | (rng.random() < 0.1) << 3 for _ in range(count)]
    bits = max(1, (count - 1).bit_length())
    circuit = BooleanCircuit(partial(read, numbers=numbers, width=4), (bits, 1))
    for run in (plainly, secretly):
        assert to_numbers(run(circuit, to_bits(range(count), bits))) == numbers


@pytest.mark.parametrize(
    ("count", "ands", "levels"), [(1, 0, 0), (2, 0, 0), (19, 31, 3), (258, 311, 4)]
)
def test_what_decoding_costs(count: int, ands: int, levels: int) -> None:
    circuit = BooleanCircuit(partial(decoded, count=count), (max(1, (count - 1).bit_length()), 1))
    assert (circuit.ands, circuit.levels) == (ands, levels)

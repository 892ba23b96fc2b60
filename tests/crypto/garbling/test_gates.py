"""AND, XOR, NOT and constants, under encryption."""

import numpy as np
import pytest

from crypto.garbling.parties import DELTA, PLACE, garble, key, plainly, secretly
from lotor.core.errors import InputError
from lotor.crypto.garbling import BooleanCircuit, CountingGates, Gates, Wires, constant, tweaks

FOUR = (np.array([[[0, 0, 1, 1]]], np.uint8), np.array([[[0, 1, 0, 1]]], np.uint8))


def conjunction(gates: Gates, x: Wires, y: Wires) -> Wires:
    return gates.both((x, y))[0]


def not_or(gates: Gates, x: Wires, y: Wires) -> Wires:
    return gates.both((gates.inverted(x), gates.inverted(y)))[0]


def difference(gates: Gates, x: Wires, y: Wires) -> Wires:
    return x ^ gates.inverted(y)


def with_constants(gates: Gates, x: Wires, y: Wires) -> Wires:
    zero, one = constant(gates, 0, x), constant(gates, 1, x)
    return np.concatenate(gates.both((x, one), (x, zero), (one, y), (one, one), (zero, one)))


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (conjunction, [[0, 0, 0, 1]]),
        (not_or, [[1, 0, 0, 0]]),
        (difference, [[1, 0, 0, 1]]),
        (with_constants, [[0, 0, 1, 1], [0] * 4, [0, 1, 0, 1], [1] * 4, [0] * 4]),
    ],
)
def test_all_four_inputs(formula: object, wanted: list[list[int]]) -> None:
    circuit = BooleanCircuit(formula, (1, 1), (1, 1))  # type: ignore[arg-type]
    assert secretly(circuit, *FOUR)[:, 0].tolist() == wanted
    assert plainly(circuit, *FOUR)[:, 0].tolist() == wanted


def test_one_row_with_several() -> None:
    """(1, places) and (bits, places), and another pair on the same level."""

    def formula(gates: Gates, x: Wires, y: Wires) -> Wires:
        return np.concatenate(gates.both((x, y), (y[:1], y[1:2])))

    circuit = BooleanCircuit(formula, (1, 3), (4, 3))
    assert (circuit.ands, circuit.levels, circuit.output) == (15, 1, (5, 3))
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 2, (n, 3, 50)).astype(np.uint8) for n in (1, 4))
    wanted = np.concatenate([x & y, y[:1] & y[1:2]])
    assert np.array_equal(secretly(circuit, x, y), wanted)
    assert np.array_equal(plainly(circuit, x, y), wanted)


def test_half_gates_as_published() -> None:
    """One gate, by the formulas of Zahur, Rosulek and Evans."""
    circuit = BooleanCircuit(conjunction, (1, 1), (1, 1))
    garbled, (a, b) = garble(circuit, 1)
    a0, b0 = a.reshape(2), b.reshape(2)
    left, right = tweaks(PLACE, 2)

    def hashed(label: Wires, tweak: Wires) -> Wires:
        return key().hashed(label, tweak)

    pa, pb = int(a0[0] & np.uint64(1)), int(b0[0] & np.uint64(1))
    delta = DELTA.words
    generator = hashed(a0, left) ^ hashed(a0 ^ delta, left) ^ delta * np.uint64(pb)
    evaluator = hashed(b0, right) ^ hashed(b0 ^ delta, right) ^ a0
    output = hashed(a0, left) ^ hashed(b0, right)
    output ^= generator * np.uint64(pa) ^ (evaluator ^ a0) * np.uint64(pb)
    assert garbled.tables.tobytes() == generator.tobytes() + evaluator.tobytes()
    assert np.array_equal(garbled.outputs.reshape(2), output)


def test_counting_notes_each_level() -> None:
    gates = CountingGates()
    x, y = np.empty((1, 3, 0), np.uint64), np.empty((4, 3, 0), np.uint64)
    first, second = gates.both((x, y), (x, x))
    assert gates.inverted(first).shape == (4, 3, 0)
    assert second.shape == (1, 3, 0)
    assert gates.levels == [((4, 3), (1, 3))]


def test_a_constant_that_does_not_fit() -> None:
    with pytest.raises(InputError, match="4 does not fit in 2 bits"):
        constant(CountingGates(), 4, np.empty((2, 1, 0), np.uint64))

"""Formulas are walked through once, and what they did is repeated."""

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from crypto.garbling.parties import DELTA, garble
from lotor.core.errors import InputError
from lotor.crypto.garbling import ArgmaxCircuit, BooleanCircuit, Gates, Wires
from lotor.crypto.garbling.garbler import GarblingGates
from lotor.crypto.garbling.tracing import Calls, traced, untraced
from lotor.crypto.ot import Delta

Words = NDArray[np.uint64]


def everything(x: Words) -> Words:
    """All that formulas do with wires beside gates."""
    zero = np.zeros_like(x[:1])
    y = np.concatenate([zero, x[::2] ^ x[1::2]])
    y ^= x[:1]
    zero ^= x[1:2]
    y[1:2] = x[3:]
    return np.concatenate([y, zero, x[np.newaxis, 1]], axis=0).take(np.array([2, 0]), axis=1)


def test_repeated_for_other_numbers() -> None:
    calls: Calls = []
    kept = np.zeros((4, 3), np.uint64)
    result = untraced(everything(traced(kept, calls)))
    rng = np.random.default_rng(1)
    for _ in range(3):
        kept[...] = rng.integers(0, 2**63, kept.shape)
        for call, arguments in calls:
            call(*arguments)
        assert np.array_equal(result, everything(kept.copy()))


@pytest.mark.parametrize(
    "copies",
    [
        lambda x: x.copy(),
        lambda x: x[np.array([1, 0])],
        lambda x: x.astype(np.uint64),
        lambda x: x.repeat(2, axis=0),
        lambda x: x[:, :3].reshape(-1),
    ],
    ids=["copy", "fancy index", "astype", "repeat", "reshape"],
)
def test_what_cannot_be_repeated_is_refused(copies: Callable[[Words], Words]) -> None:
    with pytest.raises(InputError, match="in a way that cannot be repeated"):
        copies(traced(np.zeros((2, 4), np.uint64), []))


def test_unknown_functions_are_refused() -> None:
    wires = traced(np.zeros((2, 4), np.uint64), [])
    with pytest.raises(TypeError, match="no implementation found"):
        np.stack([wires, wires])
    with pytest.raises(TypeError, match="no implementation found"):
        np.concatenate([wires, wires], dtype=np.uint64)
    with pytest.raises(TypeError, match="returned NotImplemented"):
        np.bitwise_xor.reduce(wires)
    with pytest.raises(TypeError, match="returned NotImplemented"):
        wires & wires


def test_a_formula_runs_in_python_once_for_each_backend() -> None:
    walks = []

    def formula(gates: Gates, x: Wires) -> Wires:
        walks.append(gates)
        return gates.both((x, gates.inverted(x)))[0]

    circuit = BooleanCircuit(formula, (2, 3))
    gates = GarblingGates(circuit, DELTA, 4)
    assert walks[1] is gates
    garble(circuit, 4)
    assert len(walks) == 3


def test_a_circuit_s_buffers_are_freed() -> None:
    """Traced wires must not keep what was written down alive: it is hundreds of MB."""
    made = GarblingGates(ArgmaxCircuit(3, 8), Delta.derive(bytes(32), "run"), 2)
    gates = weakref.ref(made)
    del made
    gc.collect()
    assert gates() is None

"""Garbler and evaluator in one place: a formula on bits, computed under encryption."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling import (
    BooleanCircuit,
    Evaluator,
    Garbled,
    Garbler,
    HashKey,
    HashKeys,
    LabelSource,
    Place,
    PlainGates,
    Purpose,
    chosen,
    codes_of,
    opened,
    signs_of,
)
from lotor.crypto.ot import Delta, Labels

Bits: TypeAlias = NDArray[np.uint8]
DELTA = Delta.derive(bytes(range(32)), "run")
KEYS = HashKeys(bytes(range(32, 64)))
SOURCE = LabelSource(bytes(range(64, 96)))
PLACE = Place(epoch=1, circuit=2, round=3)


def key(purpose: Purpose = Purpose.GARBLING) -> HashKey:
    return KEYS.of(1, 0, purpose)


def zero_labels(circuit: BooleanCircuit, batch: int) -> list[Labels]:
    return [SOURCE.zeros(1, n, 0, (*shape, batch)) for n, shape in enumerate(circuit.inputs)]


def garble(circuit: BooleanCircuit, batch: int) -> tuple[Garbled, list[Labels]]:
    zeros = zero_labels(circuit, batch)
    return Garbler(circuit, DELTA, batch).garble(key(), PLACE, *zeros), zeros


def secretly(circuit: BooleanCircuit, *inputs: Bits) -> Bits:
    """Inputs are (bits, places, batch); all circuits of the batch are evaluated at once."""
    garbled, zeros = garble(circuit, inputs[0].shape[-1])
    labels = [chosen(zero, bits, DELTA) for zero, bits in zip(zeros, inputs, strict=True)]
    result = Evaluator(circuit).evaluate(key(), PLACE, garbled.tables.tobytes(), *labels)
    tag_key = key(Purpose.OUTPUTS)
    return opened(
        codes_of(tag_key, PLACE, garbled.outputs, DELTA), signs_of(tag_key, PLACE, result)
    )


def plainly(circuit: BooleanCircuit, *inputs: Bits) -> Bits:
    return circuit.run(PlainGates(), *(bits.astype(np.uint64) for bits in inputs)).astype(np.uint8)


def to_bits(numbers: Sequence[int] | NDArray[np.uint64], width: int) -> Bits:
    """Numbers, one for each circuit of a batch, as (width, 1, batch)."""
    return np.array([[[int(x) >> i & 1 for x in numbers]] for i in range(width)], np.uint8)


def to_numbers(bits: Bits) -> list[int]:
    """(width, 1, batch) as numbers."""
    return [sum(int(bit) << i for i, bit in enumerate(column)) for column in bits[:, 0].T]


def every_pair(width: int, below: int | None = None) -> tuple[list[int], list[int]]:
    """All pairs of numbers of a width, or below a limit."""
    limit = below or 1 << width
    x, y = np.meshgrid(np.arange(limit), np.arange(limit))
    return x.ravel().tolist(), y.ravel().tolist()

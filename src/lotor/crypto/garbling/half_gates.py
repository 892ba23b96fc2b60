"""What garbler and evaluator have in common: the plan of a circuit's AND gates.

Half gates with free XOR (Zahur, Rosulek and Evans, 2015; Kolesnikov and Schneider, 2008). The
gates of a level are worked on together, in steps that are small enough for the cache of a core.
Which labels a step reads and writes never changes, so that all views are made beforehand.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.circuit import BooleanCircuit, Shape
from lotor.crypto.garbling.gates import Pair, Wires
from lotor.crypto.garbling.hash import (
    Encrypt,
    HashKey,
    Place,
    fill_numbers,
    fill_rounds,
    octets,
    tweak_base,
)
from lotor.crypto.ot import Labels

STEP = 2048  # so many AND gates are worked on together, if a level has them

EVERY_BIT = np.array([[0, 0], [2**64 - 1, 2**64 - 1]], np.uint64)
"""The mask of a colour."""


def buffer(rows: int) -> tuple[Labels, memoryview]:
    """Labels that AES may write, and the same as bytes; it wants room behind them."""
    room = np.empty((rows + 1, 2), np.uint64)
    return room[:rows], octets(room)


class GateStep(ABC):
    """Some AND gates at once: both inputs of each are put in `left` and `right`."""

    left: Labels
    right: Labels

    @abstractmethod
    def run(self, encrypt: Encrypt, tables: Labels) -> None:
        """From the inputs to the output; tables are (2, gates, 2), of all gates."""


class _Part(NamedTuple):
    """Some rows of one of a level's pairs, or all."""

    pair: int
    rows: slice | None
    shape: Shape


class _Slot(NamedTuple):
    """Where a step takes its inputs from, and where they are put."""

    pair: int
    rows: slice | None
    left: Labels
    right: Labels


class GateLevel(NamedTuple):
    """Steps with their slots, and the output labels of each pair."""

    steps: list[tuple[GateStep, list[_Slot]]]
    outputs: list[Labels]


class HalfGates(ABC):
    """A backend whose wires are labels, (bits, places, batch, 2)."""

    def __init__(self, circuit: BooleanCircuit, batch: int) -> None:
        self.circuit, self.batch = circuit, batch
        self._numbered: tuple[int, int] | None = None
        numbers = np.empty((2 * circuit.ands, batch, 2), np.uint64)
        self._numbers = numbers
        self._tweaks = numbers.reshape(2, -1, 2)
        self._encrypt: Encrypt
        self._tables: Labels
        self._next = 0
        steps = [_parts(level, batch) for level in circuit.gates]
        sizes = [_gates(parts) * batch for level in steps for parts in level]
        self._make_room(max(sizes, default=0))
        gate = 0
        self._levels: list[GateLevel] = []
        for shapes, parts in zip(circuit.gates, steps, strict=True):
            self._levels.append(self._level(gate, shapes, parts))
            gate += sum(bits * places for bits, places in shapes) * batch

    @abstractmethod
    def _make_room(self, most: int) -> None:
        """Make the buffers for the largest step."""

    @abstractmethod
    def _step(self, gates: slice, output: Labels) -> GateStep:
        """A step for these gates, counted over all circuits of the batch."""

    @abstractmethod
    def inverted(self, wires: Wires) -> Wires:
        """NOT."""

    def _level(self, gate: int, shapes: Sequence[Shape], steps: list[list[_Part]]) -> GateLevel:
        sizes = [bits * places * self.batch for bits, places in shapes]
        output = np.empty((sum(sizes), 2), np.uint64)
        planned, done = [], 0
        for parts in steps:
            count = _gates(parts) * self.batch
            gates = slice(gate + done, gate + done + count)
            step = self._step(gates, output[done : done + count])
            planned.append((step, list(_slots(step, parts, self.batch))))
            done += count
        pieces = np.split(output, np.cumsum(sizes)[:-1])
        outputs = [
            piece.reshape(*shape, self.batch, 2)
            for piece, shape in zip(pieces, shapes, strict=True)
        ]
        return GateLevel(planned, outputs)

    def both(self, *pairs: Pair) -> list[Wires]:
        """AND gates of one level."""
        level = self._levels[self._next]
        self._next += 1
        for step, slots in level.steps:
            for pair, rows, left, right in slots:
                a, b = pairs[pair]
                left[...] = a if rows is None or len(a) == 1 else a[rows]
                right[...] = b if rows is None else b[rows]
            step.run(self._encrypt, self._tables)
        return level.outputs

    def run(self, key: HashKey, place: Place, tables: Labels, inputs: Sequence[Labels]) -> Labels:
        """The output labels of the whole circuit."""
        tweak_base(place)
        if self._numbered != place[:2]:
            fill_numbers(self._numbers, place)
            self._numbered = place[:2]
        fill_rounds(self._numbers, place.round)
        self._encrypt, self._tables, self._next = key.encrypt, tables, 0
        return self.circuit.run(self, *inputs).copy()


def transposed_labels(labels: Labels) -> Labels:
    """(m, n, 2) to (n, m, 2): five times faster where each label is one item."""
    return (
        np.ascontiguousarray(labels.view("V16")[..., 0].T)
        .view(np.uint64)
        .reshape(labels.shape[1], labels.shape[0], 2)
    )


def check_inputs(circuit: BooleanCircuit, inputs: Sequence[Labels]) -> int:
    """How many circuits these labels are for."""
    shapes = [labels.shape for labels in inputs]
    batch = shapes[0][2] if shapes and len(shapes[0]) == 4 else 0
    if batch < 1 or shapes != [(*shape, batch, 2) for shape in circuit.inputs]:
        raise InputError(
            f"labels of shapes {shapes} do not fit a circuit whose inputs are (bits, places) = "
            f"{list(circuit.inputs)}: give each as (bits, places, circuits, 2)"
        )
    return batch


def _gates(parts: Sequence[_Part]) -> int:
    return sum(bits * places for _, _, (bits, places) in parts)


def _parts(level: Sequence[Shape], batch: int) -> list[list[_Part]]:
    """All pairs of a level in one step, or if they are too many in several, by rows."""
    if sum(bits * places for bits, places in level) * batch <= STEP:
        return [[_Part(n, None, shape) for n, shape in enumerate(level)]]
    return list(_cut(level, batch))


def _cut(level: Sequence[Shape], batch: int) -> Iterator[list[_Part]]:
    for n, (bits, places) in enumerate(level):
        rows = max(STEP // (places * batch), 1)
        for start in range(0, bits, rows):
            end = min(start + rows, bits)
            yield [_Part(n, slice(start, end), (end - start, places))]


def _slots(step: GateStep, parts: Sequence[_Part], batch: int) -> Iterator[_Slot]:
    at = 0
    for pair, rows, (bits, places) in parts:
        here = slice(at, at + bits * places * batch)
        shape = (bits, places, batch, 2)
        yield _Slot(pair, rows, step.left[here].reshape(shape), step.right[here].reshape(shape))
        at = here.stop

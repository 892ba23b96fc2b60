"""The evaluator: computes a garbled circuit, label by label, and learns nothing of its wires."""

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import FormatError
from lotor.crypto.garbling.circuit import BooleanCircuit
from lotor.crypto.garbling.gates import Wires
from lotor.crypto.garbling.half_gates import (
    EVERY_BIT,
    GateStep,
    HalfGates,
    buffer,
    check_inputs,
    transposed_labels,
)
from lotor.crypto.ot import Labels
from lotor.crypto.ot.hash import HashKey, Place, octets


class Evaluator:
    """Evaluates a circuit again and again, in buffers that it keeps.

    >>> from lotor.crypto.garbling import ArgmaxCircuit, HashKey, Purpose
    >>> evaluator = Evaluator(ArgmaxCircuit(3, 8))
    >>> key = HashKey(bytes(32), epoch=0, batch=0, purpose=Purpose.GARBLING)
    >>> labels = np.zeros((8, 3, 1, 2), np.uint64)
    >>> evaluator.evaluate(key, Place(0, 0, 1), bytes(1056), labels).shape
    (3, 1, 2)
    """

    __slots__ = ("_gates", "circuit")

    def __init__(self, circuit: BooleanCircuit) -> None:
        self.circuit = circuit
        self._gates: EvaluatingGates | None = None

    def __repr__(self) -> str:
        return f"<Evaluator of {self.circuit!r}>"

    def evaluate(
        self,
        key: HashKey,
        place: Place,
        tables: bytes | memoryview | NDArray[np.uint8],
        *labels: Labels,
    ) -> Labels:
        """The output labels, (..., circuits, 2), from inputs of (bits, places, circuits, 2).

        One circuit or several of consecutive rounds, whose tables follow each other.
        """
        batch = check_inputs(self.circuit, labels)
        flat = np.frombuffer(tables, np.uint8)
        if flat.size != batch * self.circuit.table_bytes:
            raise FormatError(
                f"the tables of {batch} circuits have {flat.size} bytes, not "
                f"{batch * self.circuit.table_bytes}: they were cut, or are of another circuit"
            )
        if self._gates is None or self._gates.batch != batch:
            self._gates = EvaluatingGates(self.circuit, batch)
        rows = flat.view(np.uint64).reshape(batch, -1, 2)
        ordered = rows if batch == 1 else transposed_labels(rows)
        return self._gates.run(key, place, ordered.reshape(-1, 2), labels)


class EvaluatingGates(HalfGates):
    """AND gates at the evaluator, who has one label of each wire."""

    def _make_room(self, most: int) -> None:
        self.labels, _ = buffer(2 * most)
        self.tweaked, _ = buffer(2 * most)
        self.summands, self.room = buffer(7 * most)
        self.colours = np.empty(2 * most, np.int64)
        self.ones = np.ones(2 * most, np.int64)
        self.masks = np.empty((2 * most, 2), np.uint64)

    def _step(self, rows: slice, tweaks: Labels, output: Labels) -> GateStep:
        return EvaluatingStep(self, rows, tweaks, output)

    def inverted(self, wires: Wires) -> Wires:
        return wires  # the garbler exchanges the labels' meaning


class EvaluatingStep(GateStep):
    """Views of the buffers for n gates.

    The output is the XOR of seven times n rows: both encryptions of both labels, what their
    colours choose of the tables, and the left label where the right one's colour is 1.
    """

    def __init__(self, room: EvaluatingGates, rows: slice, tweaks: Labels, output: Labels) -> None:
        n = len(output)
        self.room, self.rows, self.tweaks = room, rows, tweaks
        labels, tweaked = room.labels[: 2 * n], room.tweaked[: 2 * n]
        self.left, self.right = labels[:n], labels[n:]
        self.labels_read, self.tweaked_read = octets(labels), octets(tweaked)
        self.tweaked = tweaked
        self.once_written = room.room[: 32 * n + 15]
        self.twice_written = room.room[32 * n : 64 * n + 15]
        summands = room.summands[: 7 * n]
        self.once, self.chosen = summands[: 2 * n], summands[4 * n : 6 * n]
        self.last = summands[6 * n :]
        self.summands = summands.reshape(7, 2 * n)
        self.result = output.reshape(-1)
        self.lowest_words = labels.view(np.int64)[:, 0]
        self.bits, self.colours = room.ones[: 2 * n], room.colours[: 2 * n]
        self.masks = room.masks[: 2 * n]
        self.right_masks = self.masks[n:]

    def run(self) -> None:
        xor, conjunction, encrypt = np.bitwise_xor, np.bitwise_and, self.room.encrypt
        encrypt(self.labels_read, self.once_written)
        xor(self.once, self.tweaks, self.tweaked)
        encrypt(self.tweaked_read, self.twice_written)
        conjunction(self.lowest_words, self.bits, self.colours)
        EVERY_BIT.take(self.colours, 0, self.masks, "clip")
        conjunction(self.room.tables[self.rows], self.masks, self.chosen)
        conjunction(self.left, self.right_masks, self.last)
        xor.reduce(self.summands, axis=0, out=self.result)

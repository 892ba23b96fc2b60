"""The garbler: encrypts a circuit, for a batch of rounds at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
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
from lotor.crypto.ot import Delta, Labels
from lotor.crypto.ot.hash import HashKey, Place, octets


class Garbled(NamedTuple):
    """Tables for the evaluator, a row of `table_bytes` for each circuit, and the zero-labels of
    outputs, (..., batch, 2), which stay with the garbler."""

    tables: NDArray[np.uint8]
    outputs: Labels

    def __repr__(self) -> str:
        return f"<Garbled: {len(self.tables)} circuits>"


class Garbler:
    """Garbles batches of a circuit, in buffers that it keeps.

    >>> from lotor.crypto.garbling import ArgmaxCircuit, HashKey, LabelSource, Purpose
    >>> garbler = Garbler(ArgmaxCircuit(3, 8), Delta.derive(bytes(32), "run 1"), batch=2)
    >>> key = HashKey(bytes(32), epoch=0, batch=0, purpose=Purpose.GARBLING)
    >>> zeros = LabelSource(bytes(32)).zeros(0, 0, 0, (8, 3, 2))
    >>> garbled = garbler.garble(key, Place(0, 0, 1), zeros)
    >>> garbled.tables.shape, garbled.outputs.shape
    ((2, 1056), (3, 2, 2))
    """

    __slots__ = ("_delta", "_gates", "_rest", "batch", "circuit")

    def __init__(self, circuit: BooleanCircuit, delta: Delta, batch: int) -> None:
        if batch < 1:
            raise InputError(f"a batch has at least one circuit, not {batch}")
        self.circuit, self.batch = circuit, batch
        self._delta = delta
        # Made when first used: a party that is built again may garble nothing more.
        self._gates: GarblingGates | None = None
        self._rest: GarblingGates | None = None

    def __repr__(self) -> str:
        return f"<Garbler of {self.circuit!r}, {self.batch} at once>"

    def garble(self, key: HashKey, place: Place, *zero_labels: Labels) -> Garbled:
        """Garble a batch from the labels that stand for 0, (bits, places, batch, 2) each.

        `place.round` is the first circuit's round. The last batch of a run may be smaller.
        """
        batch = check_inputs(self.circuit, zero_labels)
        gates = self._of(batch)
        tables = np.empty((2 * self.circuit.ands * batch, 2), np.uint64)
        outputs = gates.run(key, place, tables, zero_labels)
        rows = transposed_labels(tables.reshape(-1, batch, 2)) if batch > 1 else tables
        return Garbled(rows.reshape(batch, -1).view(np.uint8), outputs)

    def _of(self, batch: int) -> "GarblingGates":
        if batch == self.batch:
            self._gates = self._gates or GarblingGates(self.circuit, self._delta, batch)
            return self._gates
        if batch > self.batch:
            raise InputError(
                f"{batch} circuits were given to a garbler of {self.batch} at once: make one for "
                "larger batches"
            )
        if self._rest is None or self._rest.batch != batch:
            self._rest = GarblingGates(self.circuit, self._delta, batch)
        return self._rest


class GarblingGates(HalfGates):
    """AND gates at the garbler, whose wires are zero-labels."""

    def __init__(self, circuit: BooleanCircuit, delta: Delta, batch: int) -> None:
        self._delta = delta
        super().__init__(circuit, batch)

    def _make_room(self, most: int) -> None:
        self.offsets = np.tile(self._delta.words, (2 * most, 1))
        self.labels, _ = buffer(4 * most)
        self.once, self.once_room = buffer(4 * most)
        self.tweaked, _ = buffer(4 * most)
        self.twice, self.twice_room = buffer(6 * most)
        self.colours = np.empty(2 * most, np.int64)
        self.ones = np.ones(2 * most, np.int64)
        self.masks = np.empty((2 * most, 2), np.uint64)

    def _step(self, rows: slice, tweaks: Labels, output: Labels) -> GateStep:
        return GarblingStep(self, rows, tweaks, output)

    def inverted(self, wires: Wires) -> Wires:
        # Repeated for all places: numpy is slow where it broadcasts over the two words of a label.
        return wires ^ np.tile(self._delta.words, (*wires.shape[1:-1], 1))


class GarblingStep(GateStep):
    """Views of the buffers for n gates.

    Rows are the labels of 1 of both inputs, then those of 0: four times n. Behind their hashes
    is room for what colours choose, so that the output is the XOR of the last four n.
    """

    def __init__(self, room: GarblingGates, rows: slice, tweaks: Labels, output: Labels) -> None:
        n = len(output)
        self.room, self.rows, self.tweaks = room, rows, tweaks
        labels = room.labels[: 4 * n]
        self.ones, self.zeros = labels[: 2 * n], labels[2 * n :]
        self.left, self.right = labels[2 * n : 3 * n], labels[3 * n :]
        self.labels_read = octets(labels)
        self.offsets, self.left_offsets = room.offsets[: 2 * n], room.offsets[:n]
        once, twice = room.once[: 4 * n], room.twice[: 4 * n]
        self.once_written = room.once_room[: 64 * n + 15]
        self.twice_written = room.twice_room[: 64 * n + 15]
        self.once, self.twice = once, twice
        self.once_pairs = once.reshape(2, 2 * n, 2)
        tweaked = room.tweaked[: 4 * n]
        self.tweaked_pairs, self.tweaked_read = tweaked.reshape(2, 2 * n, 2), octets(tweaked)
        self.hashes_of_one, self.hashes_of_zero = twice[: 2 * n], twice[2 * n :]
        self.chosen = room.twice[4 * n : 6 * n]
        self.summands = room.twice[2 * n : 6 * n].reshape(4, 2 * n)
        self.result = output.reshape(-1)
        self.lowest_words = self.zeros.view(np.int64)[:, 0]
        self.bits, self.colours = room.ones[: 2 * n], room.colours[: 2 * n]
        self.masks = room.masks[: 2 * n]
        self.right_masks, self.scratch = self.masks[n:], tweaked[:n]
        self.n = n

    def run(self) -> None:
        xor, conjunction, encrypt = np.bitwise_xor, np.bitwise_and, self.room.encrypt
        here = self.room.tables[self.rows]
        generator, evaluator = here[: self.n], here[self.n :]
        xor(self.zeros, self.offsets, self.ones)
        encrypt(self.labels_read, self.once_written)
        xor(self.once_pairs, self.tweaks, self.tweaked_pairs)
        encrypt(self.tweaked_read, self.twice_written)
        xor(self.twice, self.once, self.twice)
        xor(self.hashes_of_zero, self.hashes_of_one, here)
        conjunction(self.lowest_words, self.bits, self.colours)
        EVERY_BIT.take(self.colours, 0, self.masks, "clip")
        conjunction(self.right_masks, self.left_offsets, self.scratch)
        xor(generator, self.scratch, generator)
        conjunction(here, self.masks, self.chosen)
        xor(evaluator, self.left, evaluator)
        xor.reduce(self.summands, axis=0, out=self.result)

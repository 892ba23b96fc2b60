"""In which batches the circuits of a run are garbled ahead: a function of the terms."""

from math import prod
from typing import NamedTuple

import numpy as np

from lotor.core.errors import InputError, VersionError
from lotor.crypto.garbling import BooleanCircuit, Place, check_security, security_bits
from lotor.crypto.ot import LABEL_BYTES, Labels, column_bytes
from lotor.protocols.garbled.wire import batch_place

MOST_TOGETHER = 16
# So many AND gates in one go keep numpy busy; more would only take memory.
ANDS_TOGETHER = 1 << 16
PART_BYTES = 4 << 20
BATCH_BYTES = 16 << 20
MOST_LABEL_BYTES = 8 << 20
"""The labels of a turn travel in one message."""

# A restarted party repeats what it has sent, byte by byte, and a journal that is older than what
# peers know is refused (docs/resume.md): no place is ever used with other labels.
EPOCH = 0
CIRCUIT = 0


class BatchSize(NamedTuple):
    """So many circuits of so many AND gates are garbled together, as the terms of a run say."""

    circuits: int
    gates: int

    def check(self, expected: "BatchSize") -> None:
        """Refuse to go on with a run that another version began: it would garble otherwise."""
        if self != expected:
            raise VersionError(
                f"this run garbles {self.circuits} circuits of {self.gates} AND gates at once, and "
                "this version of lotor others, which would use labels a second time: finish the "
                "run with the version that began it"
            )


def batch_size(circuit: BooleanCircuit, bytes_each: int = 0) -> BatchSize:
    """How many circuits this version garbles together.

    `bytes_each` is what else a party sends in a turn: parties acknowledge where batches begin, and
    what was not acknowledged is sent again, all at once, after a connection was lost.
    """
    size = LABEL_BYTES * sum(prod(shape) for shape in circuit.inputs)
    if size > MOST_LABEL_BYTES:
        raise InputError(
            f"the labels of one circuit take {size} bytes, and a message holds "
            f"{MOST_LABEL_BYTES}: take fewer arms, or another form"
        )
    together = min(
        MOST_TOGETHER, ANDS_TOGETHER // max(1, circuit.ands), BATCH_BYTES // max(1, bytes_each)
    )
    return BatchSize(max(1, together), circuit.ands)


class CircuitBatch(NamedTuple):
    """Consecutive turns that are garbled together; turns are counted from 0."""

    number: int
    first: int
    length: int

    @property
    def turns(self) -> range:
        return range(self.first, self.first + self.length)

    def place(self) -> Place:
        """Where its hashes are: the first turn's place, and the others follow it."""
        return turn_place(self.first)


def turn_place(turn: int) -> Place:
    """The place of one turn."""
    return Place(EPOCH, CIRCUIT, turn)


class BatchSchedule:
    """The batches of a run of so many turns, each with one circuit.

    The evaluator chooses the bits of the first `chosen` inputs of the circuit, ahead of time; the
    others are the garbler's. If `united`, the chosen inputs are the XOR of what the evaluator
    chooses and bits that the garbler brings within the turn.
    """

    def __init__(
        self,
        circuit: BooleanCircuit,
        turns: int,
        size: BatchSize,
        *,
        chosen: int = 1,
        united: bool = False,
        bytes_each: int = 0,
        era: int = 0,
    ) -> None:
        """`size` is that of the terms: a restored party must garble as it began.

        A protocol that begins anew within a run, with other keys, does so in another `era`.
        """
        size.check(batch_size(circuit, bytes_each))
        self.circuit, self.turns, self.size = circuit, turns, size.circuits
        self._era = era
        self.count = -(-turns // self.size)
        self.rows = [prod(shape) for shape in circuit.inputs]
        self.chosen_rows = sum(self.rows[:chosen])
        self.own_rows = sum(self.rows) - (0 if united else self.chosen_rows)
        """Wires for which the garbler brings bits: always the last ones."""
        check_security(self.ands_per_key)

    def __repr__(self) -> str:
        return f"<BatchSchedule of {self.count} batches of {self.size}>"

    @property
    def ands_per_key(self) -> int:
        return self.size * self.circuit.ands

    @property
    def security_bits(self) -> float:
        """How many bits of security the labels of this run have."""
        return security_bits(self.ands_per_key)

    def batch(self, number: int) -> CircuitBatch:
        first = number * self.size
        return CircuitBatch(number, first, min(self.size, self.turns - first))

    def of(self, turn: int) -> CircuitBatch:
        """The batch of a turn."""
        return self.batch(turn // self.size)

    def place(self, number: int, part: int = 0) -> bytes:
        """Where messages about a batch belong."""
        return batch_place(number, part, self._era)

    def parts(self, batch: CircuitBatch) -> list[slice]:
        """How the tables of a batch are cut into messages."""
        size = batch.length * self.circuit.table_bytes
        starts = range(0, max(size, 1), PART_BYTES)
        return [slice(start, min(start + PART_BYTES, size)) for start in starts]

    @property
    def label_bytes(self) -> int:
        """How long the labels of the garbler's bits in one turn are."""
        return LABEL_BYTES * self.own_rows

    def united(self, chosen: Labels, own: Labels) -> list[Labels]:
        """The labels of each input, (bits, places, ..., 2), from those of both parties' wires."""
        wires = np.zeros((sum(self.rows), *chosen.shape[1:]), np.uint64)
        wires[: self.chosen_rows] = chosen
        wires[len(wires) - self.own_rows :] ^= own
        parts = np.split(wires, np.cumsum(self.rows)[:-1])
        shapes = self.circuit.inputs
        return [
            part.reshape(*shape, *part.shape[1:]) for part, shape in zip(parts, shapes, strict=True)
        ]

    def column_bytes(self, batch: CircuitBatch) -> int:
        """How long the evaluator's choices for a batch are."""
        return column_bytes(batch.length * self.chosen_rows)

"""In which batches the circuits of a run are garbled ahead: a function of the terms."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from lotor.core.errors import InputError, VersionError
from lotor.crypto.garbling import BooleanCircuit, Place, check_security, security_bits
from lotor.crypto.ot import LABEL_BYTES, column_bytes

MOST_TOGETHER = 16
# So many AND gates in one go keep numpy busy; more would only take memory.
ANDS_TOGETHER = 1 << 16
PART_BYTES = 4 << 20
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


def batch_size(circuit: BooleanCircuit) -> BatchSize:
    """How many circuits this version garbles together."""
    size = label_bytes(circuit)
    if size > MOST_LABEL_BYTES:
        raise InputError(
            f"the labels of one circuit take {size} bytes, and a message holds "
            f"{MOST_LABEL_BYTES}: take fewer arms, or another form"
        )
    together = max(1, min(MOST_TOGETHER, ANDS_TOGETHER // max(1, circuit.ands)))
    return BatchSize(together, circuit.ands)


def label_bytes(circuit: BooleanCircuit) -> int:
    """How long the labels of all inputs are."""
    return LABEL_BYTES * sum(prod(shape) for shape in circuit.inputs)


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

    The first `chosen` inputs of the circuit are the XOR of a bit of the garbler's and a bit that
    the evaluator chooses; the others are the garbler's.
    """

    def __init__(
        self, circuit: BooleanCircuit, turns: int, size: BatchSize, *, chosen: int = 1
    ) -> None:
        """`size` is that of the terms: a restored party must garble as it began."""
        size.check(batch_size(circuit))
        self.circuit, self.turns, self.size = circuit, turns, size.circuits
        self.count = -(-turns // self.size)
        self.rows = [prod(shape) for shape in circuit.inputs]
        self.chosen_rows = sum(self.rows[:chosen])
        self.chosen = circuit.inputs[:chosen]
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

    def parts(self, batch: CircuitBatch) -> list[slice]:
        """How the tables of a batch are cut into messages."""
        size = batch.length * self.circuit.table_bytes
        starts = range(0, max(size, 1), PART_BYTES)
        return [slice(start, min(start + PART_BYTES, size)) for start in starts]

    def column_bytes(self, batch: CircuitBatch) -> int:
        """How long the evaluator's choices for a batch are."""
        return column_bytes(batch.length * self.chosen_rows)

    def shapes(self, batch: CircuitBatch) -> Sequence[tuple[int, int, int]]:
        """Of each input: bits, places, turns."""
        return [(bits, places, batch.length) for bits, places in self.circuit.inputs]

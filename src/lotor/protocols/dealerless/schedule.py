"""Which circuits a run computes in which steps, and what is prepared for them in which batch.

Both servers derive all of it from the terms, so that nobody has to tell the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import prod
from typing import NamedTuple

from lotor.core.errors import InputError, VersionError
from lotor.crypto.garbling import BooleanCircuit, check_security, security_bits
from lotor.crypto.ot import VectorTransfer, column_bytes
from lotor.crypto.sharing import Circuit, Engine, Recipe, Supply

MOST_TOGETHER = 16
# So many bytes of a batch are sent ahead by both servers together, unless one step takes more.
BATCH_BYTES = 16 << 20
MOST_STEP_BYTES = 64 << 20
PART_BYTES = 8 << 20


class SharesCircuit:
    """A computation on shares that takes place once in each step from `first` to `last`.

    - `number`: tells it from the others of a step, whose pads and messages are others;
    - `compute`: run on zeros, to find what it asks for.
    """

    def __init__(
        self, number: int, compute: Callable[[Engine], Circuit[object]], first: int, last: int
    ) -> None:
        self.number, self.first, self.last = number, first, last
        self._compute = compute

    @cached_property
    def recipe(self) -> Recipe:
        return Recipe.of(self._compute)

    @cached_property
    def supply(self) -> Supply:
        return Supply(self.recipe)


class GarbledCircuit(NamedTuple):
    """A garbled circuit of each step from `first` to `last`.

    The evaluator's inputs come first, `chosen` of them.
    """

    number: int
    circuit: BooleanCircuit
    chosen: int
    first: int
    last: int

    @property
    def chosen_rows(self) -> int:
        return sum(prod(shape) for shape in self.circuit.inputs[: self.chosen])

    @property
    def own_rows(self) -> int:
        return sum(prod(shape) for shape in self.circuit.inputs[self.chosen :])


@dataclass(frozen=True, slots=True)
class StepBatch:
    """Consecutive steps that are prepared together; `evaluator` is the server that evaluates."""

    number: int
    steps: range

    @property
    def evaluator(self) -> int:
        return 1 - self.number % 2

    def of(self, circuit: SharesCircuit | GarbledCircuit) -> range:
        """The steps of this batch in which a circuit is computed."""
        return range(max(self.steps.start, circuit.first), min(self.steps.stop, circuit.last + 1))


class BatchLayout(NamedTuple):
    """What the chooser of one direction and the other server exchange for a batch."""

    shares: int
    """Rows for computations on shares; those for garbled circuits follow."""
    garbled: Sequence[tuple[GarbledCircuit, range]]
    """Whose inputs the chooser evaluates, and in which steps; none if it garbles."""
    transfers: Sequence[VectorTransfer]

    @property
    def rows(self) -> int:
        return self.shares + sum(
            len(steps) * circuit.chosen_rows for circuit, steps in self.garbled
        )

    @property
    def column_bytes(self) -> int:
        return column_bytes(self.rows)

    @property
    def word_parts(self) -> list[int]:
        """How long the messages with the offering server's words are."""
        return [size for transfer in self.transfers for size in transfer.part_bytes]

    @property
    def hashes(self) -> int:
        """How many hashes the offering server makes under one key."""
        return 2 * sum(transfer.hashes for transfer in self.transfers)

    @property
    def table_parts(self) -> list[int]:
        """The same of tables, circuit by circuit and step by step."""
        return [
            size
            for circuit, steps in self.garbled
            for size in parts_of(circuit.circuit.table_bytes) * len(steps)
        ]


class PreparationSchedule:
    """All circuits of a run of so many steps, and its batches."""

    def __init__(
        self,
        steps: int,
        shares: Sequence[SharesCircuit],
        garbled: Sequence[GarbledCircuit],
    ) -> None:
        self.steps, self.shares, self.garbled = steps, shares, garbled
        self._layouts: dict[tuple[int, ...], BatchLayout] = {}
        self.size = self._fitting()
        check_security(self.ands_per_key)
        check_security(self.hashes_per_key, "hashes of vectors")

    def __repr__(self) -> str:
        return f"<PreparationSchedule of {self.count} batches of {self.size}>"

    @cached_property
    def digest(self) -> str:
        """Of all that decides which masks, rows and labels are for what."""
        found = sha256(f"{self.steps} {self.size} {PART_BYTES}".encode())
        for shares in self.shares:
            found.update(f"{shares.number} {shares.first} {shares.last}".encode())
            for item in shares.recipe.items:
                wanted = item.compute if isinstance(item.compute, tuple) else item.is_dealt
                found.update(f"{item.shape} {item.dtype} {item.xor} {wanted}".encode())
        for each in self.garbled:
            circuit = each.circuit
            found.update(f"{each.number} {each.first} {each.last} {circuit.inputs}".encode())
            found.update(f"{circuit.gates} {circuit.output}".encode())
        for chooser in (0, 1):
            layout = self.layout(self.largest, chooser)
            found.update(f"{layout.transfers} {layout.word_parts}".encode())
        return found.hexdigest()

    def check(self, digest: str) -> None:
        """Refuse to go on with a run that another version began."""
        if digest != self.digest:
            raise VersionError(
                "the servers of this run make other things for each other than this version of "
                "lotor would, which would use masks and labels a second time: finish the run with "
                "the version that began it"
            )

    @property
    def count(self) -> int:
        """How many batches there are."""
        return -(-self.steps // self.size)

    def batch(self, number: int) -> StepBatch:
        first = number * self.size + 1
        return StepBatch(number, range(first, min(first + self.size, self.steps + 1)))

    def of(self, t: int) -> StepBatch:
        """The batch of a step."""
        return self.batch((t - 1) // self.size)

    def layout(self, batch: StepBatch, chooser: int) -> BatchLayout:
        """What is exchanged for a batch in the direction in which this server chooses."""
        evaluates = chooser == batch.evaluator
        key = (evaluates, *(len(batch.of(circuit)) for circuit in self._all))
        if key not in self._layouts:
            self._layouts[key] = self._layout(batch, evaluates)
        made = self._layouts[key]
        return made._replace(garbled=[(circuit, batch.of(circuit)) for circuit, _ in made.garbled])

    def _layout(self, batch: StepBatch, evaluates: bool) -> BatchLayout:
        rows, transfers = 0, list[VectorTransfer]()
        for circuit in self.shares:
            count = len(batch.of(circuit))
            if count:
                transfers += circuit.supply.transfers(count, rows, evaluator=evaluates)
                rows += circuit.supply.rows(count, evaluator=evaluates)
        garbled = [(each, batch.of(each)) for each in self.garbled if evaluates and batch.of(each)]
        return BatchLayout(rows, garbled, transfers)

    @property
    def _all(self) -> list[SharesCircuit | GarbledCircuit]:
        return [*self.shares, *self.garbled]

    @property
    def ands_per_key(self) -> int:
        return self.size * sum(each.circuit.ands for each in self.garbled)

    @cached_property
    def hashes_per_key(self) -> int:
        return max(layout.hashes for layout in self._both(self.largest))

    @property
    def security_bits(self) -> float:
        """How many bits of security labels and masks have."""
        return security_bits(max(self.ands_per_key, self.hashes_per_key))

    @cached_property
    def largest(self) -> StepBatch:
        """One of the batches for which most is prepared."""
        ends = {self.of(t).number for each in self._all for t in (each.first, each.last)}
        numbers = {n for end in ends for n in (end - 1, end, end + 1) if 0 <= n < self.count}
        return max((self.batch(n) for n in sorted(numbers)), key=self.bytes_of)

    def bytes_of(self, batch: StepBatch) -> int:
        """What both servers send ahead for a batch, without frames."""
        return sum(
            layout.column_bytes + sum(layout.word_parts) + sum(layout.table_parts)
            for layout in self._both(batch)
        )

    def _both(self, batch: StepBatch) -> list[BatchLayout]:
        return [self.layout(batch, chooser) for chooser in (0, 1)]

    def _fitting(self) -> int:
        """How many steps are prepared at once: as many as BATCH_BYTES hold."""
        one = self._most_bytes(1)
        if one > MOST_STEP_BYTES:
            raise InputError(
                f"a step needs {one / (1 << 20):.1f} MiB that the servers make for each other, and "
                f"{MOST_STEP_BYTES >> 20} is the most: take fewer arms or features, or "
                "form='dealt'"
            )
        sizes = range(MOST_TOGETHER, 1, -1)
        return next((size for size in sizes if self._most_bytes(size) <= BATCH_BYTES), 1)

    def _most_bytes(self, size: int) -> int:
        """What the largest batch of so many steps would take: where something begins, or ends."""
        starts = {each.first for each in self._all} | {each.last - size + 1 for each in self._all}
        batches = [StepBatch(0, range(max(1, t), max(1, t) + size)) for t in starts]
        return max((self.bytes_of(batch) for batch in batches), default=0)


def parts_of(size: int) -> list[int]:
    """How long the messages are into which what is long is cut."""
    whole, rest = divmod(size, PART_BYTES)
    return [PART_BYTES] * whole + [rest] * (rest > 0)

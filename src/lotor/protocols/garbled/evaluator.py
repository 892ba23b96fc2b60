"""The evaluator's side: its bits as choices in transfers, and blind evaluation."""

from collections.abc import Callable
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.garbling import Evaluator, HashKeys, Purpose, read_labels
from lotor.crypto.ot import BaseSender, CorrelatedReceiver, Labels
from lotor.crypto.prf import derive_key, new_key
from lotor.protocols.garbled.messages import (
    BaseAnswer,
    BaseOffer,
    Columns,
    GarbledTables,
    LabelHashKey,
)
from lotor.protocols.garbled.schedule import EPOCH, BatchSchedule, CircuitBatch, turn_place
from lotor.protocols.garbled.wire import expect, key_from, received_from

Bits = NDArray[np.uint8]


class EvaluatorState(msgspec.Struct):
    """What an evaluator's memory holds; `transfer_key` is for the base transfers, whose result is
    `seed_pairs`. The garbler makes `hash_key`."""

    transfer_key: bytes
    hash_key: bytes = b""
    seed_pairs: bytes = b""
    batch: int = 0

    def __repr__(self) -> str:
        return f"<EvaluatorState at batch {self.batch}>"

    @classmethod
    def fresh(cls) -> "EvaluatorState":
        return cls(new_key())

    def renewed(self, era: str) -> "EvaluatorState":
        """For circuits that begin anew within the run: other transfers."""
        return EvaluatorState(derive_key(self.transfer_key, f"transfer key of {era}"))

    def set_up(self, garbler: str, run: str) -> Steps[None]:
        """Take the hash's key, and the base transfers."""
        given: LabelHashKey = yield Receive(garbler, LabelHashKey)
        self.hash_key = key_from(given.key, garbler)
        self.seed_pairs = yield from offer_transfers(garbler, self.transfer_key, run)


def offer_transfers(receiver: str, key: bytes, run: str) -> Steps[bytes]:
    """The pairs of seeds of base transfers in which the receiver's choices are its delta."""
    sender = BaseSender(key, run)
    yield Send(receiver, BaseOffer(sender.offer()))
    answer: BaseAnswer = yield Receive(receiver, BaseAnswer)
    with received_from(receiver):
        return sender.pairs(answer.answer)


class EvaluatingSide:
    """Chooses for batch after batch and evaluates them; it cannot read a result by itself.

    `choices` gives the evaluator's bits of a batch, (bits, places, turns) for each chosen input: a
    function of keys, so that they are the same after a restart.
    """

    ahead: ClassVar[int] = 2
    """So many batches ahead it chooses; the garbler garbles one ahead."""

    def __init__(
        self,
        state: EvaluatorState,
        schedule: BatchSchedule,
        choices: Callable[[CircuitBatch], tuple[Bits, ...]],
    ) -> None:
        self.schedule = schedule
        self.hashes = HashKeys(state.hash_key)
        self._state = state
        self._choices = choices
        self._transfers = CorrelatedReceiver(state.seed_pairs)
        self._evaluator = Evaluator(schedule.circuit)
        self._rows: dict[int, Labels] = {}
        self._tables: dict[int, memoryview] = {}
        self.evaluated = 0

    def __repr__(self) -> str:
        return "<EvaluatingSide>"

    def begin(self, garbler: str, *, restored: bool = False) -> Steps[None]:
        """Choose for the first batches; a restored evaluator has sent its choices already."""
        first = self._state.batch
        for number in range(first, min(first + self.ahead, self.schedule.count)):
            columns = self._choose(number)
            if not restored:
                yield Send(garbler, Columns(self.schedule.place(number), columns))

    def receive_tables(self, garbler: str, number: int) -> Steps[None]:
        """The garbled circuits of a batch, which the garbler has sent ahead."""
        parts = []
        for part, cut in enumerate(self.schedule.parts(self.schedule.batch(number))):
            message: GarbledTables = yield Receive(garbler, GarbledTables)
            size = cut.stop - cut.start
            expect(message, self.schedule.place(number, part), garbler, tables=size)
            parts.append(message.tables)
        self._tables[number] = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))

    def evaluate(self, turn: int, labels: bytes) -> Labels:
        """The output labels of a turn, (..., 1, 2), from the garbler's labels of its own bits."""
        schedule = self.schedule
        batch = schedule.of(turn)
        at, each = turn - batch.first, schedule.circuit.table_bytes
        theirs = read_labels(labels, (schedule.own_rows, 1))
        inputs = schedule.united(self._rows[batch.number][:, at : at + 1], theirs)
        key = self.hashes.of(EPOCH, batch.number, Purpose.GARBLING)
        tables = self._tables[batch.number][at * each : (at + 1) * each]
        self.evaluated += schedule.circuit.ands
        return self._evaluator.evaluate(key, turn_place(turn), tables, *inputs)

    def choose_next(self, garbler: str, number: int) -> Steps[None]:
        """Within a batch, or behind it: choose for another one ahead."""
        later = number + self.ahead
        if later < self.schedule.count:
            columns = self._choose(later)
            yield Send(garbler, Columns(self.schedule.place(later), columns))

    def forget(self, number: int) -> None:
        """A batch is done."""
        del self._rows[number], self._tables[number]

    def _choose(self, number: int) -> bytes:
        batch = self.schedule.batch(number)
        bits = [each.reshape(-1, batch.length) for each in self._choices(batch)]
        columns, self._rows[number] = self._transfers.extend(number, np.concatenate(bits))
        return columns

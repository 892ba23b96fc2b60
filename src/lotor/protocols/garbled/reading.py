"""Circuits whose outputs the evaluator alone reads.

A table that decodes outputs goes to the evaluator with the circuits; the garbler learns nothing. An
output label that is neither of the two in the table shows that something was altered. What the
evaluator brings was chosen ahead of time, before it knows what it will need. A protocol chooses one
random share of a number, and within the turn gives the garbler the difference to the share that it
has then, which the garbler adds to its own: one exchange.
"""

from collections.abc import Callable

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.garbling import OutputCodes, opened
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.garbler import Bits
from lotor.protocols.garbled.messages import DecodingTable
from lotor.protocols.garbled.schedule import BatchSchedule, CircuitBatch
from lotor.protocols.garbled.showing import (
    CodingSide,
    SigningSide,
    codes_from,
    table_bytes,
    table_of,
    the_position,
)
from lotor.protocols.garbled.wire import batch_place, expect, received_from


def decoding_bytes(schedule: BatchSchedule, batch: CircuitBatch) -> dict[str, int]:
    """How long the fields of a batch's decoding table are."""
    return table_bytes(int(np.prod(schedule.circuit.output)) * batch.length)


class TellingSide(CodingSide):
    """The garbler, whose evaluator may read the outputs."""

    def send_tables(self, evaluator: str, number: int) -> Steps[None]:
        yield from super().send_tables(evaluator, number)
        if number < self.schedule.count:
            codes, _ = self.results(self.schedule.batch(number).first)
            yield Send(evaluator, table_of(codes, batch_place(number)))


class ReadingSide(SigningSide):
    """The evaluator, who reads the outputs."""

    def __init__(
        self,
        state: EvaluatorState,
        schedule: BatchSchedule,
        choices: Callable[[CircuitBatch], tuple[Bits, ...]],
    ) -> None:
        super().__init__(state, schedule, choices)
        self._codes: dict[int, OutputCodes] = {}

    def receive_tables(self, garbler: str, number: int) -> Steps[None]:
        yield from super().receive_tables(garbler, number)
        schedule = self.schedule
        batch = schedule.batch(number)
        message: DecodingTable = yield Receive(garbler, DecodingTable)
        expect(message, batch_place(number), garbler, **decoding_bytes(schedule, batch))
        self._codes[number] = codes_from(message, (*schedule.circuit.output, batch.length))

    def read(self, turn: int, labels: bytes) -> Bits:
        """The outputs of a turn; raises IntegrityError if something was altered."""
        batch = self.schedule.of(turn)
        codes = self._codes[batch.number].of(turn - batch.first)
        return opened(codes, self.signs(turn, labels))[..., 0]

    def position(self, turn: int, labels: bytes, garbler: str) -> int:
        """Where the outputs of a turn are 1, which must be one place."""
        with received_from(garbler):
            bits = self.read(turn, labels)
        return the_position(bits, turn, garbler)

    def forget(self, number: int) -> None:
        super().forget(number)
        del self._codes[number]

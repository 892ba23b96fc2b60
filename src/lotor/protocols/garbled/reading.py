"""Circuits whose outputs the evaluator alone reads.

A table that decodes outputs goes to the evaluator with the circuits; the garbler learns nothing. An
output label that is neither of the two in the table shows that something was altered. What the
evaluator brings was chosen ahead of time, before it knows what it will need. A protocol chooses one
random share of a number, and within the turn gives the garbler the difference to the share that it
has then, which the garbler adds to its own: one exchange.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.garbling import (
    TAG_BYTES,
    OutputCodes,
    Purpose,
    codes_of,
    opened,
    signs_of,
)
from lotor.crypto.ot import Labels
from lotor.protocols.garbled.evaluator import EvaluatingSide, EvaluatorState
from lotor.protocols.garbled.garbler import Bits, GarblerState, GarblingSide
from lotor.protocols.garbled.messages import DecodingTable
from lotor.protocols.garbled.schedule import EPOCH, BatchSchedule, CircuitBatch, turn_place
from lotor.protocols.garbled.wire import batch_place, expect, received_from


def decoding_bytes(schedule: BatchSchedule, batch: CircuitBatch) -> dict[str, int]:
    """How long the fields of a batch's decoding table are."""
    outputs = int(np.prod(schedule.circuit.output)) * batch.length
    return {"colours": -(-outputs // 8), "tags": 2 * TAG_BYTES * outputs}


class TellingSide(GarblingSide[OutputCodes]):
    """The garbler, whose evaluator may read the outputs."""

    def __init__(self, state: GarblerState, run: str, schedule: BatchSchedule) -> None:
        super().__init__(state, run, schedule, self._codes)

    def send_tables(self, evaluator: str, number: int) -> Steps[None]:
        yield from super().send_tables(evaluator, number)
        if number < self.schedule.count:
            codes, _ = self.results(self.schedule.batch(number).first)
            colours = np.packbits(codes.colours.reshape(-1)).tobytes()
            tags = codes.tags.astype("<u8").tobytes()
            yield Send(evaluator, DecodingTable(batch_place(number), colours, tags))

    def _codes(self, batch: CircuitBatch, outputs: Labels) -> OutputCodes:
        key = self.hashes.of(EPOCH, batch.number, Purpose.OUTPUTS)
        return codes_of(key, batch.place(), outputs, self.delta)


class ReadingSide(EvaluatingSide):
    """The evaluator, who reads the outputs.

    It chooses for the next batch (`choose_next`) right after the first message of a batch has left:
    the garbler garbles the next batch once it has answered that one.
    """

    ahead: ClassVar[int] = 1

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
        batch, shape = schedule.batch(number), schedule.circuit.output
        message: DecodingTable = yield Receive(garbler, DecodingTable)
        expect(message, batch_place(number), garbler, **decoding_bytes(schedule, batch))
        outputs = (*shape, batch.length)
        packed = np.frombuffer(message.colours, np.uint8)
        colours = np.unpackbits(packed, count=int(np.prod(outputs))).reshape(outputs)
        tags = np.frombuffer(message.tags, "<u8").reshape(2, *outputs)
        self._codes[number] = OutputCodes(colours, tags)

    def read(self, turn: int, labels: bytes) -> Bits:
        """The outputs of a turn; raises IntegrityError if something was altered."""
        batch = self.schedule.of(turn)
        key = self.hashes.of(EPOCH, batch.number, Purpose.OUTPUTS)
        signs = signs_of(key, turn_place(turn), self.evaluate(turn, labels))
        return opened(self._codes[batch.number].of(turn - batch.first), signs)[..., 0]

    def position(self, turn: int, labels: bytes, garbler: str) -> int:
        """Where the outputs of a turn are 1, which must be one place."""
        with received_from(garbler):
            bits = self.read(turn, labels)
        if bits.sum() != 1:
            raise ProtocolError(
                f"the circuit of turn {turn} selects {bits.sum()} places instead of one: {garbler} "
                "garbled something else, or a message was altered; start a new run"
            )
        return int(bits.argmax())

    def forget(self, number: int) -> None:
        super().forget(number)
        del self._codes[number]

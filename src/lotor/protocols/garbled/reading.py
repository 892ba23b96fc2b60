"""Circuits whose outputs the evaluator alone reads.

The colours of outputs go to the evaluator with the tables; the garbler learns nothing. What the
evaluator brings was chosen ahead of time, before it knows what it will need. A protocol chooses one
random share of a number, and within the turn gives the garbler the difference to the share that it
has then, which the garbler adds to its own: one exchange.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.garbling import colours
from lotor.crypto.ot import Labels
from lotor.protocols.garbled.evaluator import EvaluatingSide, EvaluatorState
from lotor.protocols.garbled.garbler import Bits, GarblerState, GarblingSide
from lotor.protocols.garbled.messages import OutputColours
from lotor.protocols.garbled.schedule import BatchSchedule, CircuitBatch
from lotor.protocols.garbled.wire import batch_place, expect


def colour_bytes(schedule: BatchSchedule, batch: CircuitBatch) -> int:
    """How long the colours of a batch's outputs are."""
    return -(-int(np.prod(schedule.circuit.output)) * batch.length // 8)


class TellingSide(GarblingSide[Bits]):
    """The garbler, whose evaluator may read the outputs."""

    def __init__(self, state: GarblerState, run: str, schedule: BatchSchedule) -> None:
        super().__init__(state, run, schedule, _colours)

    def send_tables(self, evaluator: str, number: int) -> Steps[None]:
        yield from super().send_tables(evaluator, number)
        if number < self.schedule.count:
            results, _ = self.results(self.schedule.batch(number).first)
            packed = np.packbits(results.reshape(-1)).tobytes()
            yield Send(evaluator, OutputColours(batch_place(number), packed))


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
        self._colours: dict[int, Bits] = {}

    def receive_tables(self, garbler: str, number: int) -> Steps[None]:
        yield from super().receive_tables(garbler, number)
        schedule = self.schedule
        batch, shape = schedule.batch(number), schedule.circuit.output
        message: OutputColours = yield Receive(garbler, OutputColours)
        size = colour_bytes(schedule, batch)
        expect(message, batch_place(number), garbler, colours=size)
        count = int(np.prod(shape)) * batch.length
        flat = np.unpackbits(np.frombuffer(message.colours, np.uint8), count=count)
        self._colours[number] = flat.reshape(*shape, batch.length)

    def read(self, turn: int, labels: bytes) -> Bits:
        """The outputs of a turn."""
        batch = self.schedule.of(turn)
        found = colours(self.evaluate(turn, labels)[..., 0, :])
        return found ^ self._colours[batch.number][..., turn - batch.first]

    def position(self, turn: int, labels: bytes, garbler: str) -> int:
        """Where the outputs of a turn are 1, which must be one place."""
        bits = self.read(turn, labels)
        if bits.sum() != 1:
            raise ProtocolError(
                f"the circuit of turn {turn} selects {bits.sum()} places instead of one: {garbler} "
                "garbled something else, or a message was altered; start a new run"
            )
        return int(bits.argmax())

    def forget(self, number: int) -> None:
        super().forget(number)
        del self._colours[number]


def _colours(batch: CircuitBatch, outputs: Labels) -> Bits:
    del batch
    return colours(outputs)

"""Circuits whose evaluator brings secret bits within a turn, and alone reads the outputs.

Ahead of time the evaluator chooses random bits in the transfers. In a turn it sends its own bits
XOR these, which look random, and the garbler answers with labels of what it was sent: one exchange.
The colours of outputs go to the evaluator with the tables; the garbler learns nothing.
"""

from typing import ClassVar

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.garbling import LabelSource, colours
from lotor.crypto.ot import LABEL_BITS, Labels
from lotor.crypto.prf import derive_key
from lotor.protocols.garbled.evaluator import EvaluatingSide, EvaluatorState
from lotor.protocols.garbled.garbler import Bits, GarblerState, GarblingSide
from lotor.protocols.garbled.messages import OutputColours
from lotor.protocols.garbled.schedule import CIRCUIT, EPOCH, BatchSchedule, CircuitBatch
from lotor.protocols.garbled.wire import batch_place, expect


def covered_bytes(schedule: BatchSchedule) -> int:
    """How long the evaluator's bits of a turn are."""
    return -(-schedule.chosen_rows // 8)


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

    def answer(self, turn: int, covered: bytes, *own: Bits) -> bytes:
        """The labels of what the evaluator sent, and of the garbler's own inputs."""
        schedule = self.schedule
        flat = np.unpackbits(np.frombuffer(covered, np.uint8), count=schedule.chosen_rows)
        return self.labels(turn, flat, *own)


class ReadingSide(EvaluatingSide):
    """The evaluator, who brings bits and reads the outputs.

    It chooses for the next batch (`choose_next`) right after the first bits of a batch have left:
    the garbler garbles the next batch once it has answered these.
    """

    ahead: ClassVar[int] = 1

    def __init__(self, state: EvaluatorState, schedule: BatchSchedule) -> None:
        super().__init__(state, schedule, self._random)
        self._source = LabelSource(derive_key(state.transfer_key, "choices"))
        self._bits: dict[int, Bits] = {}
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

    def cover(self, turn: int, *bits: Bits) -> bytes:
        """The evaluator's bits of a turn, (bits, places) for each chosen input, under cover.

        A protocol has them on its disk before they leave: under one cover two inputs show their
        difference.
        """
        batch = self.schedule.of(turn)
        flat = np.concatenate([each.reshape(-1) for each in bits])
        cover = self._bits[batch.number][:, turn - batch.first]
        return np.packbits(flat ^ cover).tobytes()

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
        del self._bits[number], self._colours[number]

    def _random(self, batch: CircuitBatch) -> tuple[Bits, ...]:
        count = self.schedule.chosen_rows * batch.length
        words = self._source.zeros(EPOCH, CIRCUIT, batch.number, (-(-count // LABEL_BITS),))
        bits = np.unpackbits(words.reshape(-1).view(np.uint8), count=count)
        self._bits[batch.number] = bits.reshape(-1, batch.length)
        return (self._bits[batch.number],)


def _colours(batch: CircuitBatch, outputs: Labels) -> Bits:
    del batch
    return colours(outputs)

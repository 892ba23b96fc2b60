"""Two parties that find the largest of numbers that are the sum of a share of each."""

from dataclasses import dataclass

import msgspec
import numpy as np

from lotor.core.draws import Words
from lotor.core.effects import Checkpoint, Message, Once, Receive, Send, Steps
from lotor.crypto.garbling import SumArgmaxCircuit, bits_of
from lotor.crypto.prf import Prf
from lotor.protocols.garbled.evaluator import Bits, EvaluatorState
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import ReadingSide, TellingSide
from lotor.protocols.garbled.schedule import BatchSchedule, CircuitBatch, batch_size
from lotor.protocols.garbled.wire import expect
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party

RUN = "toy"


class MovedShares(Message, frozen=True, tag="toy/moved"):
    place: bytes
    shares: bytes


class ToyGarblerMemory(Memory, tag="toy/garbler"):
    circuits: GarblerState
    ready: bool = False


class ToyReaderMemory(Memory, tag="toy/reader"):
    circuits: EvaluatorState
    ready: bool = False
    found: list[int] = msgspec.field(default_factory=list)


@dataclass(frozen=True)
class ToyCase:
    """Shares of both parties, (turns, places) each."""

    theirs: np.ndarray[tuple[int, int], np.dtype[np.uint64]]
    mine: np.ndarray[tuple[int, int], np.dtype[np.uint64]]
    width: int

    def schedule(self) -> BatchSchedule:
        turns, places = self.mine.shape
        circuit = SumArgmaxCircuit(places, self.width)
        return BatchSchedule(circuit, turns, batch_size(circuit))

    @property
    def winners(self) -> list[int]:
        return [int(row.argmax()) for row in (self.theirs + self.mine) & self.mask]

    @property
    def mask(self) -> np.uint64:
        return np.uint64((1 << self.width) - 1)


def place_of(turn: int) -> bytes:
    return turn.to_bytes(8)


class ToyGarbler(Party):
    def __init__(self, case: ToyCase, snapshot: bytes | None = None) -> None:
        self._case = case
        self._memory = (
            ToyGarblerMemory(party="garbler", run=RUN, circuits=GarblerState.fresh())
            if snapshot is None
            else restored(ToyGarblerMemory, snapshot, "garbler", RUN)
        )

    def steps(self) -> Steps[None]:
        case, memory, schedule = self._case, self._memory, self._case.schedule()
        if not memory.ready:
            yield Checkpoint(memory.dump)
            yield from memory.circuits.set_up("reader", RUN)
            side = TellingSide(memory.circuits, RUN, schedule)
            yield from side.begin("reader")
            memory.ready = True
        else:
            side = TellingSide(memory.circuits, RUN, schedule)
            side.restore()
        for number in range(memory.circuits.batch, schedule.count):
            memory.circuits.batch = number
            yield Checkpoint(memory.dump, number + 1)
            turns = schedule.batch(number).turns
            for turn in turns:
                given: MovedShares = yield Receive("reader", MovedShares)
                expect(given, place_of(turn), "reader", shares=8 * schedule.circuit.inputs[0][1])
                yield Once(given.place + given.shares)
                own = case.theirs[turn] + np.frombuffer(given.shares, np.uint64)
                labels = side.labels(turn, bits_of(own & case.mask, case.width))
                yield Send("reader", InputLabels(given.place, labels))
                if turn == turns[0]:
                    yield from side.garble_next("reader", number + 1)
                if turn == turns[-1]:
                    yield from side.send_tables("reader", number + 1)


class ToyReader(Party):
    def __init__(self, case: ToyCase, snapshot: bytes | None = None) -> None:
        self._case = case
        self._memory = (
            ToyReaderMemory(party="reader", run=RUN, circuits=EvaluatorState.fresh())
            if snapshot is None
            else restored(ToyReaderMemory, snapshot, "reader", RUN)
        )

    def steps(self) -> Steps[list[int]]:
        case, memory, schedule = self._case, self._memory, self._case.schedule()
        begun = memory.ready
        if not begun:
            yield Checkpoint(memory.dump)
            yield from memory.circuits.set_up("garbler", RUN)
            memory.ready = True
        side = ReadingSide(memory.circuits, schedule, self._choices)
        yield from side.begin("garbler", restored=begun)
        for number in range(memory.circuits.batch, schedule.count):
            memory.circuits.batch = number
            yield Checkpoint(memory.dump, number + 1)
            yield from side.receive_tables("garbler", number)
            turns = schedule.batch(number).turns
            for turn in turns:
                moved = ((case.mine[turn] - self._chosen(turn)) & case.mask).tobytes()
                yield Once(place_of(turn) + moved)
                yield Send("garbler", MovedShares(place_of(turn), moved))
                if turn == turns[0]:
                    yield from side.choose_next("garbler", number)
                answer: InputLabels = yield Receive("garbler", InputLabels)
                expect(answer, place_of(turn), "garbler", labels=schedule.label_bytes)
                memory.found.append(side.position(turn, answer.labels, "garbler"))
            side.forget(number)
        return memory.found

    def _chosen(self, turn: int) -> Words:
        """A share that does not depend on the number."""
        key, places = self._memory.circuits.transfer_key, self._case.mine.shape[1]
        return Prf(key, range(places)).words(0, turn, 0) & self._case.mask

    def _choices(self, batch: CircuitBatch) -> tuple[Bits, ...]:
        shares = np.stack([self._chosen(turn) for turn in batch.turns], axis=-1)
        return (bits_of(shares, self._case.width),)

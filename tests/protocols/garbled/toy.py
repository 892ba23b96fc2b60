"""Two parties that find the largest of numbers that are the XOR of a share of each."""

from dataclasses import dataclass

import msgspec
import numpy as np

from lotor.core.effects import Checkpoint, Message, Once, Receive, Send, Steps
from lotor.crypto.garbling import ArgmaxCircuit, bits_of
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.reading import ReadingSide, TellingSide, covered_bytes
from lotor.protocols.garbled.schedule import BatchSchedule, batch_size, label_bytes
from lotor.protocols.garbled.wire import expect
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party

RUN = "toy"


class CoveredBits(Message, frozen=True, tag="toy/covered"):
    place: bytes
    bits: bytes


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
        circuit = ArgmaxCircuit(places, self.width, shares=2)
        return BatchSchedule(circuit, turns, batch_size(circuit))

    @property
    def winners(self) -> list[int]:
        return [int(row.argmax()) for row in self.theirs ^ self.mine]


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
                given: CoveredBits = yield Receive("reader", CoveredBits)
                expect(given, place_of(turn), "reader", bits=covered_bytes(schedule))
                yield Once(given.place + given.bits)
                own = bits_of(case.theirs[turn], case.width)
                labels = side.answer(turn, given.bits, own)
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
        side = ReadingSide(memory.circuits, schedule)
        yield from side.begin("garbler", restored=begun)
        size = label_bytes(schedule.circuit)
        for number in range(memory.circuits.batch, schedule.count):
            memory.circuits.batch = number
            yield Checkpoint(memory.dump, number + 1)
            yield from side.receive_tables("garbler", number)
            turns = schedule.batch(number).turns
            for turn in turns:
                covered = side.cover(turn, bits_of(case.mine[turn], case.width))
                yield Once(place_of(turn) + covered)
                yield Send("garbler", CoveredBits(place_of(turn), covered))
                if turn == turns[0]:
                    yield from side.choose_next("garbler", number)
                answer: InputLabels = yield Receive("garbler", InputLabels)
                expect(answer, place_of(turn), "garbler", labels=size)
                memory.found.append(side.position(turn, answer.labels, "garbler"))
            side.forget(number)
        return memory.found

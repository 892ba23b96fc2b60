"""The garbler's side: labels of its own bits, and garbled circuits, batch by batch."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.garbling import Garbler, HashKeys, InputOrder, LabelSource, Purpose, chosen
from lotor.crypto.ot import BaseReceiver, CorrelatedSender, Delta, Labels
from lotor.crypto.prf import derive_key, new_key
from lotor.protocols.garbled.messages import (
    BaseAnswer,
    BaseOffer,
    Columns,
    GarbledTables,
    LabelHashKey,
)
from lotor.protocols.garbled.schedule import CIRCUIT, EPOCH, BatchSchedule, CircuitBatch, turn_place
from lotor.protocols.garbled.wire import expect, received_from

R = TypeVar("R")
Bits = NDArray[np.uint8]


class GarblerState(msgspec.Struct):
    """What a garbler's memory holds. Delta and all labels are derived from `garbling_key`.

    `seeds` come from the base transfers. `columns` are those of the batch that is garbled already,
    so that it can be garbled again.
    """

    garbling_key: bytes
    hash_key: bytes
    seeds: bytes = b""
    columns: bytes = b""
    batch: int = 0

    def __repr__(self) -> str:
        return f"<GarblerState at batch {self.batch}>"

    @classmethod
    def fresh(cls) -> "GarblerState":
        return cls(new_key(), new_key())

    def renewed(self, era: str) -> "GarblerState":
        """For circuits that begin anew within the run: other keys, and no transfers yet."""
        garbling, hashing = (f"{kind} key of {era}" for kind in ("garbling", "hash"))
        return GarblerState(
            derive_key(self.garbling_key, garbling), derive_key(self.garbling_key, hashing)
        )

    def delta(self, run: str) -> Delta:
        """The difference between the two labels of every wire."""
        return Delta.derive(self.garbling_key, run)

    def set_up(self, evaluator: str, run: str) -> Steps[None]:
        """Send the hash's key, and take part in the base transfers with delta as choices."""
        yield Send(evaluator, LabelHashKey(self.hash_key))
        self.seeds = yield from answer_transfers(evaluator, self.garbling_key, run, self.delta(run))


def answer_transfers(sender: str, key: bytes, run: str, delta: Delta) -> Steps[bytes]:
    """The seeds that delta chooses in base transfers with a party that will choose by them."""
    offer: BaseOffer = yield Receive(sender, BaseOffer)
    with received_from(sender):
        answer, seeds = BaseReceiver(key, run, delta.bits).answer(offer.offer)
    yield Send(sender, BaseAnswer(answer))
    return seeds


class GarbledBatch(NamedTuple, Generic[R]):
    """What the garbler keeps of a batch until its turns have come: zero-labels of its own bits,
    (rows, turns, 2), and what it makes of the outputs."""

    tables: bytes
    zeros: Labels
    results: R

    def __repr__(self) -> str:
        return f"<GarbledBatch with {len(self.tables)} bytes of tables>"


class GarblingSide(Generic[R]):
    """Garbles batch after batch; everything is a function of keys and of the evaluator's columns.

    `results` says what to keep of the zero-labels of a batch's outputs, (..., turns, 2).
    """

    def __init__(
        self,
        state: GarblerState,
        run: str,
        schedule: BatchSchedule,
        results: Callable[[CircuitBatch, Labels], R],
    ) -> None:
        self.schedule = schedule
        self.delta = state.delta(run)
        self.hashes = HashKeys(state.hash_key)
        self._state = state
        self._results = results
        self._sources = LabelSource(derive_key(state.garbling_key, "input labels"))
        self._transfers = CorrelatedSender(state.seeds, self.delta)
        self._garbler = Garbler(schedule.circuit, self.delta, schedule.size)
        self._inputs = InputOrder()
        self._batches: dict[int, GarbledBatch[R]] = {}
        self.garbled = 0

    def __repr__(self) -> str:
        return "<GarblingSide>"

    def begin(self, evaluator: str) -> Steps[None]:
        """Garble the first batch, and send it."""
        yield from self.garble_next(evaluator, 0)
        yield from self.send_tables(evaluator, 0)

    def restore(self) -> None:
        """Garble the current batch again: its tables have been sent, its labels are needed."""
        if self._state.batch < self.schedule.count:
            self._garble(self._state.batch, self._state.columns)

    def garble_next(self, evaluator: str, number: int) -> Steps[None]:
        """Garble a batch for the evaluator's columns, ahead of time, if there is such a batch."""
        if number < self.schedule.count:
            self._state.columns = yield from self.columns(evaluator, number)
            self._garble(number, self._state.columns)
            self.garbled += self.schedule.batch(number).length * self.schedule.circuit.ands

    def columns(self, evaluator: str, number: int) -> Steps[bytes]:
        """The evaluator's choices for a batch."""
        message: Columns = yield Receive(evaluator, Columns)
        size = self.schedule.column_bytes(self.schedule.batch(number))
        expect(message, self.schedule.place(number), evaluator, columns=size)
        return message.columns

    def send_tables(self, evaluator: str, number: int) -> Steps[None]:
        """Send a batch that is garbled, cut into messages."""
        if number < self.schedule.count:
            tables = self._batches[number].tables
            for part, cut in enumerate(self.schedule.parts(self.schedule.batch(number))):
                yield Send(evaluator, GarbledTables(self.schedule.place(number, part), tables[cut]))

    def labels(self, turn: int, *bits: Bits) -> bytes:
        """The labels of the garbler's bits in one turn, in the order of inputs, and of no others.

        A protocol has the bits on its disk before they leave (`Once`).
        """
        flat = np.concatenate([each.reshape(-1) for each in bits])
        self._inputs.take(turn_place(turn), np.packbits(flat).tobytes())
        batch = self.schedule.of(turn)
        zeros = self._batches[batch.number].zeros[:, turn - batch.first]
        return chosen(zeros, flat, self.delta).tobytes()

    def results(self, turn: int) -> tuple[R, int]:
        """What was made of the outputs of a turn's batch, and which of the batch's turns it is."""
        batch = self.schedule.of(turn)
        return self._batches[batch.number].results, turn - batch.first

    def _garble(self, number: int, columns: bytes) -> None:
        """The batch before the last is not needed any more."""
        self._batches.pop(number - 2, None)
        schedule = self.schedule
        batch = schedule.batch(number)
        turns = batch.length
        zeros = self._sources.zeros(EPOCH, CIRCUIT, number, (schedule.own_rows, turns))
        theirs = self._transfers.extend(number, columns, schedule.chosen_rows * turns)
        inputs = schedule.united(theirs.reshape(-1, turns, 2), zeros)
        key = self.hashes.of(EPOCH, number, Purpose.GARBLING)
        made = self._garbler.garble(key, batch.place(), *inputs)
        results = self._results(batch, made.outputs)
        self._batches[number] = GarbledBatch(made.tables.tobytes(), zeros, results)

"""Controller's part of the argmaxes: labels of its own shares, and garbled circuits."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import (
    Garbler,
    InputOrder,
    LabelSource,
    OutputCodes,
    Purpose,
    bits_of,
    chosen,
    codes_of,
)
from lotor.crypto.ot import CorrelatedSender, Delta, Labels
from lotor.crypto.prf import derive_key
from lotor.protocols.samba.shared.argmax import CIRCUIT, EPOCH, ServerPlaces
from lotor.protocols.samba.shared.schedule import Schedule, TurnBatch
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import controller_bits

if TYPE_CHECKING:
    from lotor.protocols.samba.shared.controller import SambaSharedControllerMemory


class GarbledBatch(NamedTuple):
    """What Controller keeps of a batch until its turns have come."""

    tables: bytes
    zeros: Labels
    codes: OutputCodes

    def __repr__(self) -> str:
        return f"<GarbledBatch with {len(self.tables)} bytes of tables>"


class Garbling:
    """Garbles batch after batch; everything is a function of keys and of Comp's columns."""

    def __init__(self, memory: "SambaSharedControllerMemory", terms: SambaSharedTerms) -> None:
        self.schedule = Schedule(terms, terms.batch, terms.gates)
        self._places = ServerPlaces(memory.tie_key, memory.hash_key, terms.k)
        self._delta = Delta.derive(memory.garbling_key, terms.run)
        self._sources = LabelSource(derive_key(memory.garbling_key, "input labels"))
        self._transfers = CorrelatedSender(memory.seeds, self._delta)
        self._garbler = Garbler(self.schedule.circuit, self._delta, terms.batch)
        self._inputs = InputOrder()
        self._batches: dict[int, GarbledBatch] = {}

    def __repr__(self) -> str:
        return "<Garbling>"

    def garble(self, number: int, columns: bytes) -> None:
        """A batch, for Comp's columns; the one before the last is not needed any more."""
        self._batches.pop(number - 2, None)
        batch, places = self.schedule.batch(number), self._places
        shape = (SCORE_BITS, self.schedule.circuit.places, len(batch.turns))
        theirs = self._transfers.extend(number, columns, math.prod(shape))
        zeros = self._sources.zeros(EPOCH, CIRCUIT, number, shape)
        place, key = places.place(batch), places.hash_key(batch, Purpose.GARBLING)
        garbled = self._garbler.garble(key, place, zeros ^ theirs.reshape(zeros.shape))
        outputs = np.empty_like(garbled.outputs)
        for turn, one in enumerate(batch.turns):
            outputs[places.order(one), turn] = garbled.outputs[:, turn]
        codes = codes_of(places.hash_key(batch, Purpose.OUTPUTS), place, outputs, self._delta)
        self._batches[number] = GarbledBatch(garbled.tables.tobytes(), zeros, codes)

    def tables(self, number: int) -> list[bytes]:
        """What Comp needs for a batch, cut into messages."""
        whole = self._batches[number].tables
        return [whole[cut] for cut in self.schedule.parts(self.schedule.batch(number))]

    def labels(self, batch: TurnBatch, turn: int, scores: bytes) -> bytes:
        """The labels of Controller's shares of the scores in one turn, and of no others."""
        self._inputs.take(self._places.place(batch, turn), scores)
        words = np.frombuffer(scores, "<u8").astype(np.uint64)
        bits = bits_of(words[self._places.order(batch.turns[turn])], SCORE_BITS)
        zeros = self._batches[batch.number].zeros[:, :, turn]
        return chosen(zeros, bits, self._delta).tobytes()

    def codes(self, batch: TurnBatch, turn: int) -> bytes:
        """Controller's part of the results of one turn."""
        return controller_bits(self._batches[batch.number].codes, turn)

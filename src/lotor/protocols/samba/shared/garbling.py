"""Controller's part of the argmaxes: labels of its own shares, and garbled circuits."""

import numpy as np

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import OutputCodes, Purpose, bits_of, codes_of
from lotor.crypto.ot import Labels
from lotor.protocols.garbled.garbler import GarblerState, GarblingSide
from lotor.protocols.garbled.schedule import EPOCH, CircuitBatch
from lotor.protocols.samba.shared.era import Era
from lotor.protocols.samba.shared.schedule import ArgmaxSchedule
from lotor.protocols.samba.shared.wire import controller_bits
from lotor.protocols.samba.tie_order import TieOrder


class Garbling(GarblingSide[OutputCodes]):
    """Inputs of a circuit are in the order of ties, and results in that of the arms."""

    schedule: ArgmaxSchedule

    def __init__(self, state: GarblerState, tie_key: bytes, era: Era) -> None:
        super().__init__(state, era.transfers, ArgmaxSchedule(era), self._codes)
        self._ties = TieOrder(tie_key, era.numbers)

    def score_labels(self, turn: int, scores: bytes) -> bytes:
        """The labels of Controller's shares of the scores in one turn, and of no others."""
        words = np.frombuffer(scores, "<u8").astype(np.uint64)
        order = self._ties.at(*self.schedule.turn(turn))
        return self.labels(turn, bits_of(words[order], SCORE_BITS))

    def codes(self, turn: int) -> bytes:
        """Controller's part of the results of one turn."""
        return controller_bits(*self.results(turn))

    def _codes(self, batch: CircuitBatch, outputs: Labels) -> OutputCodes:
        of_arms = np.empty_like(outputs)
        for at, turn in enumerate(batch.turns):
            of_arms[self._ties.at(*self.schedule.turn(turn)), at] = outputs[:, at]
        key = self.hashes.of(EPOCH, batch.number, Purpose.OUTPUTS)
        return codes_of(key, batch.place(), of_arms, self.delta)

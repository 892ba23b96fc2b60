"""Comp's part of the argmaxes: its shares as choices in transfers, and blind evaluation."""

import numpy as np

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import OutputSigns, Purpose, bits_of, signs_of
from lotor.protocols.garbled.evaluator import Bits, EvaluatingSide, EvaluatorState
from lotor.protocols.garbled.schedule import EPOCH, CircuitBatch, turn_place
from lotor.protocols.samba.shared.era import Era
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.schedule import ArgmaxSchedule
from lotor.protocols.samba.tie_order import TieOrder


class Evaluation(EvaluatingSide):
    """Inputs of a circuit are in the order of ties, and results in that of the arms."""

    schedule: ArgmaxSchedule

    def __init__(self, state: EvaluatorState, tie_key: bytes, era: Era, pads: AllPads) -> None:
        super().__init__(state, ArgmaxSchedule(era), self._shares)
        self.pads = pads
        self._ties = TieOrder(tie_key, era.numbers)

    def signs(self, turn: int, labels: bytes) -> OutputSigns:
        """What Comp can show of the results of a turn."""
        outputs = self.evaluate(turn, labels)
        of_arms = np.empty_like(outputs)
        of_arms[self._ties.at(*self.schedule.turn(turn))] = outputs
        key = self.hashes.of(EPOCH, self.schedule.of(turn).number, Purpose.OUTPUTS)
        return signs_of(key, turn_place(turn), of_arms)

    def _shares(self, batch: CircuitBatch) -> tuple[Bits, ...]:
        """Comp's shares of a batch's scores."""
        turns = (self.schedule.turn(turn) for turn in batch.turns)
        shares = [self.pads.shares(*turn)[self._ties.at(*turn)] for turn in turns]
        return (bits_of(np.stack(shares, axis=-1), SCORE_BITS),)

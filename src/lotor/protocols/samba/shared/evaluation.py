"""Comp's part of the argmaxes: its shares as choices in transfers, and blind evaluation."""

from typing import TYPE_CHECKING

import numpy as np

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import Evaluator, OutputSigns, Purpose, bits_of, read_labels, signs_of
from lotor.crypto.ot import CorrelatedReceiver, Labels
from lotor.protocols.samba.shared.argmax import ServerPlaces
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.schedule import Schedule, TurnBatch
from lotor.protocols.samba.shared.terms import SambaSharedTerms

if TYPE_CHECKING:
    from lotor.protocols.samba.shared.comp import SambaSharedCompMemory


class Evaluation:
    """Chooses for batch after batch and evaluates them; it cannot read a result."""

    def __init__(
        self, memory: "SambaSharedCompMemory", terms: SambaSharedTerms, pads: AllPads
    ) -> None:
        self.schedule = Schedule(terms, terms.batch, terms.gates)
        self._pads = pads
        self._places = ServerPlaces(memory.tie_key, memory.hash_key, terms.k)
        self._transfers = CorrelatedReceiver(memory.seed_pairs)
        self._evaluator = Evaluator(self.schedule.circuit)
        self._rows: dict[int, Labels] = {}

    def __repr__(self) -> str:
        return "<Evaluation>"

    def columns(self, number: int) -> bytes:
        """Choose Comp's shares of a batch's scores; their labels are kept until its turns come."""
        turns = self.schedule.batch(number).turns
        shares = [self._pads.shares(*turn)[self._places.order(turn)] for turn in turns]
        choices = bits_of(np.stack(shares, axis=-1), SCORE_BITS)
        columns, self._rows[number] = self._transfers.extend(number, choices)
        return columns

    def signs(self, batch: TurnBatch, turn: int, labels: bytes, tables: memoryview) -> OutputSigns:
        """What Comp can show of the results of a turn."""
        rows, places = self._rows[batch.number], self._places
        theirs = read_labels(labels, rows.shape[:2])
        place, key = places.place(batch, turn), places.hash_key(batch, Purpose.GARBLING)
        inputs = (theirs ^ rows[:, :, turn])[:, :, np.newaxis]
        outputs = self._evaluator.evaluate(key, place, tables, inputs)
        of_arms = np.empty_like(outputs)
        of_arms[places.order(batch.turns[turn])] = outputs
        return signs_of(places.hash_key(batch, Purpose.OUTPUTS), place, of_arms)

    def done(self, batch: TurnBatch) -> None:
        """The labels of a batch are not needed any more."""
        del self._rows[batch.number]

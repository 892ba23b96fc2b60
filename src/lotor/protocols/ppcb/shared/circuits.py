"""What a run computes in which steps: the same for both servers, from the terms."""

from functools import lru_cache

import numpy as np
from msgspec.structs import replace as with_fields

from lotor.crypto.garbling import ChoiceCircuit, ReciprocalCircuit
from lotor.crypto.sharing import Circuit, Engine, SharedBits
from lotor.protocols.dealerless.schedule import (
    GarbledCircuit,
    PreparationSchedule,
    SharesCircuit,
)
from lotor.protocols.ppcb.chosen_arm import (
    Learning,
    LearntModel,
    choose,
    learn,
    learn_late,
    prepare,
    weights,
)
from lotor.protocols.ppcb.protocol import GARBLED
from lotor.protocols.ppcb.shape import Chance, zeros
from lotor.protocols.ppcb.shared.gadgets import TracedGadgets
from lotor.protocols.ppcb.terms import Alone, PPCBTerms, terms_from

_BEGIN, _CHOOSE, _LEARN = range(3)
_CHOICE, _RECIPROCAL = range(2)


class PPCBSharedCircuits:
    """Choosing an arm, learning from its reward, and once the start from a kept model.

    What learning needs is prepared while the arm is pulled, in one computation with the choice;
    with a delay weights will have changed by then, and it is part of learning.
    """

    def __init__(self, terms: PPCBTerms) -> None:
        alone = terms.alone or Alone()
        self._shape = shape = terms.shape
        self.late = terms.delay > 0 or terms.predicts
        self.garbles_reciprocal = alone.reciprocal == GARBLED
        learning = range(terms.late + 1, terms.late + terms.learnt + 1)
        self.begin = SharesCircuit(_BEGIN, self._begin, 1, 1 if terms.continued else 0)
        self.choose = SharesCircuit(_CHOOSE, self._choose, 1, terms.steps)
        self.learn = SharesCircuit(_LEARN, self._learn, learning.start, learning.stop - 1)
        self.choice = GarbledCircuit(
            _CHOICE, ChoiceCircuit(shape.arms, shape.score_bits, shape.threshold), 4, 1, terms.steps
        )
        self.reciprocal = GarbledCircuit(
            _RECIPROCAL, ReciprocalCircuit(), 1, learning.start, learning.stop - 1
        )
        garbled = (self.choice, self.reciprocal) if self.garbles_reciprocal else (self.choice,)
        shares = (self.begin, self.choose, self.learn)
        self.schedule = PreparationSchedule(
            terms.ends,
            [circuit for circuit in shares if circuit.last >= circuit.first],
            [circuit for circuit in garbled if circuit.last >= circuit.first],
        )
        if alone.prepared:
            self.schedule.check(alone.prepared)

    @classmethod
    def of(cls, terms: PPCBTerms) -> "PPCBSharedCircuits":
        """Those of an order: it is read many times, and they take milliseconds to plan."""
        return _of_order(terms.to_bytes())

    @classmethod
    def ordered(cls, terms: PPCBTerms) -> PPCBTerms:
        """Terms with what follows from the rest, so that all parties derive the same."""
        alone = terms.alone or Alone()
        alone = Alone(alone.reciprocal, cls(terms).schedule.digest)
        return with_fields(terms, alone=alone)

    @property
    def _gadgets(self) -> TracedGadgets:
        return TracedGadgets(garbled_reciprocal=self.garbles_reciprocal)

    def _begin(self, engine: Engine) -> Circuit[object]:
        return weights(engine, self._gadgets, self._shape, self._model.table)

    def _choose(self, engine: Engine) -> Circuit[object]:
        shape, model = self._shape, self._model
        x, chance = zeros(shape.features), Chance.none(shape)
        context, one_hot = yield from choose(engine, self._gadgets, shape, model, x, chance)
        if self.late:
            return one_hot
        learning = yield from prepare(engine, self._gadgets, shape, model, context, one_hot)
        return learning

    def _learn(self, engine: Engine) -> Circuit[object]:
        shape, model, reward = self._shape, self._model, zeros(1)
        one_hot = SharedBits(np.zeros(shape.arms, np.uint8), first=False)
        if self.late:
            x = zeros(shape.features)
            return learn_late(engine, self._gadgets, shape, model, x, one_hot, reward)
        learning = Learning(zeros(shape.entries), zeros(shape.features), reward)
        return learn(engine, self._gadgets, shape, model, one_hot, learning, reward)

    @property
    def _model(self) -> LearntModel:
        shape = self._shape
        table = zeros(shape.arms, shape.entries + shape.features)
        return LearntModel(table, zeros(shape.arms, shape.features))


@lru_cache(maxsize=8)
def _of_order(order: bytes) -> PPCBSharedCircuits:
    return PPCBSharedCircuits(terms_from(order))

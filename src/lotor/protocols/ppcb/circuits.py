"""The two circuits of a step, the same for both servers and the dealer."""

import numpy as np

from lotor.crypto.sharing import Circuit, Engine, Shared, SharedBits
from lotor.protocols.ppcb.shape import Chance, Chosen, Gains, Weights, zeros
from lotor.protocols.ppcb.step import choose, choose_only, learn, learn_late
from lotor.protocols.ppcb.terms import PPCBTerms
from lotor.protocols.two_server.schedule import DealerSchedule, StepCircuit


class PPCBCircuits:
    """Choosing an arm (lines 8 to 15), and learning from its reward (lines 20 to 23).

    No checkpoint lies between learning in one step and choosing in the next. With a delay the first
    steps learn nothing, and a run that only predicts never does.
    """

    def __init__(self, terms: PPCBTerms) -> None:
        self._shape = shape = terms.shape
        self._late = terms.delay > 0 or terms.predicts
        weights = Weights(zeros(shape.arms, shape.entries + shape.features))
        x, reward = zeros(shape.features), zeros(1)
        gains = None if self._late else Gains.none(shape)
        chosen = Chosen(x, SharedBits(np.zeros(shape.arms, np.uint8), first=False), gains)
        self.choose = StepCircuit(
            number=0,
            compute=self._choose,
            zeros=(weights, x, Chance.none(shape)),
            first=1,
            last=terms.steps,
        )
        self.learn = StepCircuit(
            number=1,
            compute=self._learn,
            zeros=(weights, chosen, reward),
            first=terms.late + 1,
            last=terms.late + terms.learnt,
            later=1,
        )
        used = (self.choose,) if terms.predicts else (self.choose, self.learn)
        self.schedule = DealerSchedule(*used)

    def _choose(
        self, engine: Engine, weights: Weights, x: Shared, chance: Chance
    ) -> Circuit[Chosen]:
        circuit = choose_only if self._late else choose
        return circuit(engine, self._shape, weights, x, chance)

    def _learn(
        self, engine: Engine, weights: Weights, chosen: Chosen, reward: Shared
    ) -> Circuit[Weights]:
        if chosen.gains is None:
            return learn_late(engine, self._shape, weights, chosen, reward)
        return learn(engine, weights, chosen.one_hot, chosen.gains, reward)

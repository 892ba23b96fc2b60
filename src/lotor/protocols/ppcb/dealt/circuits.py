"""The circuits of a step, the same for both servers and the dealer."""

from abc import ABC, abstractmethod

import numpy as np

from lotor.crypto.sharing import Circuit, Engine, Shared, SharedBits, mask
from lotor.protocols.ppcb import chosen_arm
from lotor.protocols.ppcb.chosen_arm import Learning, LearntModel
from lotor.protocols.ppcb.dealt import all_arms, sizes
from lotor.protocols.ppcb.dealt.gadgets import DealtGadgets
from lotor.protocols.ppcb.shape import Chance, Chosen, Gains, Weights, zeros
from lotor.protocols.ppcb.terms import PPCBTerms
from lotor.protocols.two_server.schedule import AnyCircuit, DealerSchedule, StepCircuit

_CHOOSE, _LEARN, _PREPARE, _BEGIN = range(4)


class PPCBCircuits(ABC):
    """Choosing an arm (lines 8 to 15), and learning from its reward (lines 20 to 23).

    `prepare` finds, while the arm is pulled, what learning needs, where `choose` has not found it;
    `begin` makes the first model, or one that was kept, one to choose by, in step 0. No checkpoint
    lies between learning in one step and choosing in the next. With a delay the first steps learn
    nothing, and a run that only predicts never does.
    """

    def __init__(self, terms: PPCBTerms) -> None:
        self._shape = shape = terms.shape
        self.features = shape.features
        self._late = terms.delay > 0 or terms.predicts
        table = zeros(shape.arms, shape.entries + shape.features)
        self._zeros = LearntModel(table, zeros(*self.vectors_shape))
        self._unlearnt = Chosen(
            zeros(shape.features), SharedBits(np.zeros(shape.arms, np.uint8), first=False), None
        )
        gains = None if self._late else Gains(*(zeros(*each) for each in self.gains_shapes))
        chosen = Chosen(self._unlearnt.x, self._unlearnt.one_hot, gains)
        self.choose = StepCircuit(
            number=_CHOOSE,
            compute=self._choose,
            zeros=(self._zeros, chosen.x, Chance.none(shape)),
            first=1,
            last=terms.steps,
        )
        self.learn = StepCircuit(
            number=_LEARN,
            compute=self._learn,
            zeros=(self._zeros, chosen, zeros(1)),
            first=terms.late + 1,
            last=terms.late + terms.learnt,
            later=1,
        )
        self.begin = self._begin_circuit()
        self.prepare = self._prepare_circuit(terms)
        # Those of every step.
        self.repeated: list[AnyCircuit] = [self.choose]
        if self.prepare is not None:
            self.repeated.append(self.prepare)
        if not terms.predicts:
            self.repeated.append(self.learn)
        once = [] if self.begin is None else [self.begin]
        self.schedule = DealerSchedule(*once, *self.repeated)

    @property
    @abstractmethod
    def vectors_shape(self) -> tuple[int, int]:
        """Of the weights that the model has as scores take them."""

    @property
    def gains_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of k uᵀ, k and w·x."""
        shape, rows = self._shape, self._gains_rows
        return (*rows, shape.entries), (*rows, shape.features), (*rows, 1)

    @property
    @abstractmethod
    def _gains_rows(self) -> tuple[int, ...]:
        """One for each arm whose gains are computed."""

    def _begin_circuit(self) -> StepCircuit[LearntModel, LearntModel] | None:
        return None

    def _prepare_circuit(
        self,
        terms: PPCBTerms,  # noqa: ARG002
    ) -> StepCircuit[Gains, LearntModel, Chosen] | None:
        return None

    @abstractmethod
    def _choose(
        self, engine: Engine, model: LearntModel, x: Shared, chance: Chance
    ) -> Circuit[Chosen]: ...

    @abstractmethod
    def _learn(
        self, engine: Engine, model: LearntModel, chosen: Chosen, reward: Shared
    ) -> Circuit[LearntModel]: ...


class AllArmsCircuits(PPCBCircuits):
    """What every arm would learn is computed, in the rounds in which the best one is found."""

    @property
    def vectors_shape(self) -> tuple[int, int]:
        return self._shape.arms, 0

    @property
    def _gains_rows(self) -> tuple[int, ...]:
        return (self._shape.arms,)

    def _choose(
        self, engine: Engine, model: LearntModel, x: Shared, chance: Chance
    ) -> Circuit[Chosen]:
        circuit = all_arms.choose_only if self._late else all_arms.choose
        return circuit(engine, self._shape, Weights(model.table), x, chance)

    def _learn(
        self, engine: Engine, model: LearntModel, chosen: Chosen, reward: Shared
    ) -> Circuit[LearntModel]:
        weights, gains = Weights(model.table), chosen.gains
        learnt = yield from (
            all_arms.learn_late(engine, self._shape, weights, chosen, reward)
            if gains is None
            else all_arms.learn(engine, weights, chosen.one_hot, gains, reward)
        )
        return LearntModel(learnt.table, model.vectors)


class ChosenArmCircuits(PPCBCircuits):
    """Only the chosen arm learns: more rounds, and far fewer numbers in them."""

    @property
    def vectors_shape(self) -> tuple[int, int]:
        return self._shape.arms, self._shape.features

    @property
    def _gains_rows(self) -> tuple[int, ...]:
        return ()

    @property
    def _gadgets(self) -> DealtGadgets:
        return DealtGadgets(self._shape)

    def _begin_circuit(self) -> StepCircuit[LearntModel, LearntModel]:
        # Also where all weights are 0, so that a run takes the same whether or not it goes on.
        return StepCircuit(
            number=_BEGIN, compute=self._begin, zeros=(self._zeros,), first=0, last=0, later=1
        )

    def _prepare_circuit(self, terms: PPCBTerms) -> StepCircuit[Gains, LearntModel, Chosen] | None:
        if self._late:
            return None
        return StepCircuit(
            number=_PREPARE,
            compute=self._prepare,
            zeros=(self._zeros, self._unlearnt),
            first=1,
            last=terms.steps,
        )

    def _begin(self, engine: Engine, model: LearntModel) -> Circuit[LearntModel]:
        return chosen_arm.weights(engine, self._gadgets, self._shape, model.table)

    def _choose(
        self, engine: Engine, model: LearntModel, x: Shared, chance: Chance
    ) -> Circuit[Chosen]:
        gadgets, shape = self._gadgets, self._shape
        _, one_hot = yield from chosen_arm.choose(engine, gadgets, shape, model, x, chance)
        return Chosen(x, one_hot, None)

    def _prepare(self, engine: Engine, model: LearntModel, chosen: Chosen) -> Circuit[Gains]:
        gadgets, shape = self._gadgets, self._shape
        context = yield from mask(engine, chosen.x)
        found = yield from chosen_arm.prepare(
            engine, gadgets, shape, model, context, chosen.one_hot
        )
        return Gains(found.outer, found.k, found.s)

    def _learn(
        self, engine: Engine, model: LearntModel, chosen: Chosen, reward: Shared
    ) -> Circuit[LearntModel]:
        gadgets, shape, gains = self._gadgets, self._shape, chosen.gains
        if gains is None:
            return chosen_arm.learn_late(
                engine, gadgets, shape, model, chosen.x, chosen.one_hot, reward
            )
        learning = Learning(gains.outer, gains.k, gains.s)
        return chosen_arm.learn(engine, gadgets, shape, model, chosen.one_hot, learning, reward)


def cheapest_circuits(terms: PPCBTerms) -> PPCBCircuits:
    """Those that take a run of the dealt form less work."""
    if sizes.one_arm_learns(terms.arms, terms.features):
        return ChosenArmCircuits(terms)
    return AllArmsCircuits(terms)

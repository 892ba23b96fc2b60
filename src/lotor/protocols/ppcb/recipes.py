"""What a step's circuits need: traced once, the same for the dealer and both servers."""

import numpy as np

from lotor.crypto.sharing import Circuit, Engine, Recipe, Shared, SharedBits
from lotor.protocols.ppcb.shape import Chance, Gains, Shape, Weights
from lotor.protocols.ppcb.step import choose, decide, learn, recall
from lotor.protocols.ppcb.terms import Terms
from lotor.protocols.ppcb.wire import DECIDE, LEARN


class Recipes:
    """Of a run's two circuits: choosing an arm, and learning from its reward."""

    def __init__(self, terms: Terms) -> None:
        self._delay, self._steps = terms.delay, terms.steps
        shape = terms.shape
        self.by_circuit = {
            DECIDE: Recipe.of(lambda engine: _decided(engine, shape, terms.delay)),
            LEARN: Recipe.of(lambda engine: _learnt(engine, shape, terms.delay)),
        }

    def dealt_together(self, t: int) -> list[tuple[int, int]]:
        """Steps and circuits of the dealer's message t: learning from step t - 1, choosing in t.

        No checkpoint lies between the two; with a delay the first steps learn nothing.
        """
        learning = [(t - 1, LEARN)] if t - 1 > self._delay else []
        choosing = [(t, DECIDE)] if t <= self._steps else []
        return learning + choosing

    @property
    def messages(self) -> int:
        """How many the dealer sends: what the last step learns comes alone."""
        return self._steps + (1 if self._steps > self._delay else 0)

    @property
    def rounds(self) -> int:
        """Of one step."""
        return sum(recipe.rounds for recipe in self.by_circuit.values())


def learn_late(
    engine: Engine,
    shape: Shape,
    weights: Weights,
    x: Shared,
    one_hot: SharedBits,
    reward: Shared,
) -> Circuit[Weights]:
    """Learn from a choice that was made under older weights."""
    gains = yield from recall(engine, shape, weights, x)
    return (yield from learn(engine, weights, one_hot, gains, reward))


def _decided(engine: Engine, shape: Shape, delay: int) -> Circuit[object]:
    circuit = choose if delay else decide
    return circuit(engine, shape, _weights(shape), _zeros(shape.features), Chance.none(shape))


def _learnt(engine: Engine, shape: Shape, delay: int) -> Circuit[object]:
    weights, reward = _weights(shape), _zeros(1)
    one_hot = SharedBits(np.zeros(shape.arms, np.uint8), first=False)
    if delay:
        return learn_late(engine, shape, weights, _zeros(shape.features), one_hot, reward)
    arms = shape.arms
    gains = Gains(_zeros(arms, shape.entries), _zeros(arms, shape.features), _zeros(arms, 1))
    return learn(engine, weights, one_hot, gains, reward)


def _weights(shape: Shape) -> Weights:
    return Weights(_zeros(shape.arms, shape.entries + shape.features))


def _zeros(*shape: int) -> Shared:
    return Shared(np.zeros(shape, np.uint64), first=False)

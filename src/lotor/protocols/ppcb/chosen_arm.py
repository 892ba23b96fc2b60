"""Algorithm 1's inner loop where only the chosen arm learns, as circuits on shares.

Least squares is kept in recursive form: of each arm the inverse of its matrix (lines 10 and 21 by
Sherman-Morrison) and its weights, so that b of line 22 is not needed:

    u = A⁻¹ x,  g = 1 / (1 + x·u),  k = g u,   A⁻¹ -= k uᵀ,  w += k (r - w·x)

Scores need w·x alone. The one-hot vector then reads A⁻¹ and w of the arm that it stands for, and
writes back what changes. How numbers are truncated, an arm is chosen and a reciprocal is taken
depends on whether there is a dealer: those are the gadgets.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lotor.crypto.sharing import (
    RING,
    Circuit,
    Engine,
    MaskedWords,
    Shared,
    SharedBits,
    bit_to_word,
    constant,
    contract,
    mask,
    moved,
    multiply,
    settled,
    together,
    upper_outer,
)
from lotor.protocols.ppcb.shape import (
    INNER_BITS,
    SLACK,
    Chance,
    StepShape,
    triangle,
)


@dataclass(frozen=True, slots=True)
class LearntModel:
    """A server's shares of what was learnt: a row for each arm.

    The `table` has the upper half of A⁻¹, with twice INNER_BITS behind the point, and then w, with
    INNER_BITS more than a score's factors: what is added to them is never rounded. `vectors` are
    the weights as scores take them, with so many bits less.
    """

    table: Shared
    vectors: Shared


@dataclass(frozen=True, slots=True)
class Learning:
    """What will be learnt of a step once its reward is there: k uᵀ (its upper half), k and w·x."""

    outer: Shared
    k: Shared
    s: Shared


class Gadgets(Protocol):
    """What differs with and without a dealer; `ring` says modulo what a number is shared."""

    def cut(self, engine: Engine, z: Shared, bits: int, ring: int = RING) -> Circuit[Shared]:
        """z / 2^bits, off by less than one and right on average."""
        ...

    def cut_and_mask(
        self, engine: Engine, z: Shared, bits: int, ring: int = RING
    ) -> Circuit[MaskedWords]:
        """The same, opened under a mask."""
        ...

    def choose(
        self, engine: Engine, ranked: Shared, room: Shared, chance: Chance
    ) -> Circuit[SharedBits]:
        """Lines 8 and 12 to 15: the arm of the largest number, or by chance any arm.

        TooLongError if `room` is negative.
        """
        ...

    def reciprocal(self, engine: Engine, d: Shared, behind: int, ring: int) -> Circuit[MaskedWords]:
        """1 / (1 + d) with INNER_BITS behind the point, where 0 <= d <= 1 has `behind`."""
        ...


def choose(
    engine: Engine,
    gadgets: Gadgets,
    shape: StepShape,
    model: LearntModel,
    x: Shared,
    chance: Chance,
) -> Circuit[tuple[MaskedWords, SharedBits]]:
    """Lines 8 to 15: the context under a mask, and the chosen arm.

    Equal scores are decided by a permutation that the first server drew, written below their last
    bit.
    """
    context, vectors = yield from together(mask(engine, x), mask(engine, model.vectors))
    scores = contract(engine, vectors, context, shape.score_ring)  # line 11
    length = contract(engine, context, context)
    ranked = (scores << shape.rank_bits) + chance.ranks
    room = -(length - constant(1 + SLACK, 2 * shape.bits))
    one_hot = yield from gadgets.choose(engine, ranked, room, chance)
    return context, one_hot


def prepare(
    engine: Engine,
    gadgets: Gadgets,
    shape: StepShape,
    model: LearntModel,
    context: MaskedWords,
    one_hot: SharedBits,
) -> Circuit[Learning]:
    """Lines 20 and 21 as far as they need no reward, for the arm that was chosen.

    The one-hot is the computed one: p' would not have to share the arm that it pulled (lines 17
    and 18), and cannot share another.
    """
    inverse = Shared(model.table.share[:, : shape.entries], first=engine.first)
    both = np.concatenate([inverse.share, model.vectors.share], axis=1)
    hot, rows = yield from together(
        bit_to_word(engine, one_hot[:, None]), mask(engine, Shared(both, first=engine.first))
    )
    row = multiply(engine, hot, rows).sum(axis=0)
    upper, w = yield from together(
        gadgets.cut_and_mask(engine, row[: shape.entries], INNER_BITS, shape.inverse_ring),
        mask(engine, row[shape.entries :]),
    )
    whole = triangle(shape.features)[2]
    matrix = moved(engine, upper, lambda v: v.take(whole, axis=-1))
    u, s = yield from together(
        gadgets.cut_and_mask(
            engine,
            contract(engine, matrix, context, shape.vector_ring),
            shape.bits,
            shape.vector_ring,
        ),
        gadgets.cut(
            engine,
            contract(engine, w, context, shape.score_ring),
            shape.bits,
            shape.score_ring,
        ),
    )
    leverage = contract(engine, u, context, shape.vector_ring)
    g = yield from gadgets.reciprocal(engine, leverage, INNER_BITS + shape.bits, shape.vector_ring)
    k = yield from gadgets.cut_and_mask(engine, multiply(engine, g, u), INNER_BITS)
    outer = upper_outer(engine, k, u, shape.inverse_ring)
    return Learning(outer, settled(engine, k), s)


def learn(
    engine: Engine,
    gadgets: Gadgets,
    shape: StepShape,
    model: LearntModel,
    one_hot: SharedBits,
    learning: Learning,
    reward: Shared,
) -> Circuit[LearntModel]:
    """Lines 20 to 23: what one arm has learnt is added to its row."""
    hot, outer, k, error = yield from together(
        bit_to_word(engine, one_hot[:, None]),
        mask(engine, learning.outer),
        mask(engine, learning.k),
        mask(engine, reward - learning.s),
    )
    more = yield from mask(engine, multiply(engine, error, k))
    less = multiply(engine, hot, outer)
    added = multiply(engine, hot, more)
    changes = np.concatenate([-less.share, added.share], axis=1)
    table = model.table + Shared(changes, first=engine.first)
    vectors = yield from gadgets.cut(engine, table[:, shape.entries :], INNER_BITS)
    return LearntModel(table, vectors)


def learn_late(
    engine: Engine,
    gadgets: Gadgets,
    shape: StepShape,
    model: LearntModel,
    x: Shared,
    one_hot: SharedBits,
    reward: Shared,
) -> Circuit[LearntModel]:
    """The same of a choice that was made steps ago, with the model of now."""
    context = yield from mask(engine, x)
    learning = yield from prepare(engine, gadgets, shape, model, context, one_hot)
    return (yield from learn(engine, gadgets, shape, model, one_hot, learning, reward))


def weights(
    engine: Engine, gadgets: Gadgets, shape: StepShape, table: Shared
) -> Circuit[LearntModel]:
    """The model of a run that goes on from the table of another."""
    vectors = yield from gadgets.cut(engine, table[:, shape.entries :], INNER_BITS)
    return LearntModel(table, vectors)

"""Algorithm 1's inner loop as circuits on shares, with its line numbers.

Least squares is kept in recursive form: of each arm the inverse of its matrix (lines 10 and 21 by
Sherman-Morrison) and its weights, so that b of line 22 is not needed:

    u = A⁻¹ x,  g = 1 / (1 + x·u),  k = g u,   A⁻¹ -= k uᵀ,  w += k (r - w·x)

All of this but the reward is computed for every arm while the best one is found, in the same five
rounds; a sixth one opens the one-hot vector and the reward under masks, and then what changes is a
product with them. A⁻¹ is symmetric, and only its upper half is kept.
"""

import numpy as np

from lotor.crypto.sharing import (
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
    multiply_three,
    reciprocal,
    settled,
    together,
    truncate,
)
from lotor.protocols.ppcb.dealt.choice import taken
from lotor.protocols.ppcb.shape import (
    INNER_BITS,
    SLACK,
    Chance,
    Chosen,
    Gains,
    StepShape,
    Weights,
    triangle,
    whole_rows,
)


def choose(
    engine: Engine,
    shape: StepShape,
    weights: Weights,
    x: Shared,
    chance: Chance,
) -> Circuit[Chosen]:
    """Lines 8 to 15: the chosen arm, and what learning from it will need."""
    context, products = yield from _products(engine, shape, weights, x)
    one_hot, gains = yield from together(
        _taken(engine, shape, products[:, -1], context, chance),  # line 11
        _gains(engine, shape, products, context),
    )
    return Chosen(x, one_hot, gains)


def choose_only(
    engine: Engine, shape: StepShape, weights: Weights, x: Shared, chance: Chance
) -> Circuit[Chosen]:
    """Lines 8 to 15 alone, where the reward comes steps later and weights will have changed."""
    context, vectors = yield from together(
        mask(engine, x), truncate(engine, weights.table[:, shape.entries :], INNER_BITS)
    )
    scores = contract(engine, vectors, context)
    one_hot = yield from _taken(engine, shape, scores, context, chance)
    return Chosen(x, one_hot, None)


def learn(
    engine: Engine,
    weights: Weights,
    one_hot: SharedBits,
    gains: Gains,
    reward: Shared,
) -> Circuit[Weights]:
    """Lines 20 to 23: every arm's weights are computed anew, and those of one arm change.

    The one-hot is the computed one: p' would not have to share the arm that it pulled (lines 17
    and 18), and cannot share another.
    """
    chosen, outer, k, error = yield from together(
        bit_to_word(engine, one_hot[:, None]),
        mask(engine, gains.outer),
        mask(engine, gains.k),
        mask(engine, reward - gains.s),
    )
    less = multiply(engine, chosen, outer)
    more = multiply_three(engine, chosen, k, error)
    changes = np.concatenate([-less.share, more.share], axis=1)
    return Weights(weights.table + Shared(changes, first=engine.first))


def learn_late(
    engine: Engine, shape: StepShape, weights: Weights, chosen: Chosen, reward: Shared
) -> Circuit[Weights]:
    """Learn from a choice that was made steps ago: its gains are those under the weights of now."""
    context, products = yield from _products(engine, shape, weights, chosen.x)
    gains = yield from _gains(engine, shape, products, context)
    return (yield from learn(engine, weights, chosen.one_hot, gains, reward))


def _products(
    engine: Engine, shape: StepShape, weights: Weights, x: Shared
) -> Circuit[tuple[MaskedWords, Shared]]:
    """The context, masked, and for each arm A⁻¹ x and behind it w·x."""
    context, table = yield from together(
        mask(engine, x), truncate(engine, weights.table, INNER_BITS)
    )
    rows = whole_rows(shape.features)
    whole = moved(engine, table, lambda v: v.take(rows, axis=1))
    return context, contract(engine, whole, context)


def _gains(
    engine: Engine, shape: StepShape, products: Shared, context: MaskedWords
) -> Circuit[Gains]:
    cut = yield from truncate(engine, products, shape.bits)
    u = moved(engine, cut, lambda v: v[:, :-1])
    s = moved(engine, cut, lambda v: v[:, -1:])
    leverage = contract(engine, u, context)[:, None]
    # Under a mask of one term u has fewer products with what was cut off.
    g, u = yield from together(
        reciprocal(engine, leverage, INNER_BITS, INNER_BITS + shape.bits),
        mask(engine, settled(engine, u)),
    )
    k = yield from truncate(engine, multiply(engine, u, g), INNER_BITS)
    rows, columns, _ = triangle(shape.features)
    outer = multiply(
        engine,
        moved(engine, k, lambda v: v.take(rows, axis=1)),
        moved(engine, u, lambda v: v.take(columns, axis=1)),
    )
    return Gains(outer, settled(engine, k), settled(engine, s))


def _taken(
    engine: Engine, shape: StepShape, scores: Shared, context: MaskedWords, chance: Chance
) -> Circuit[SharedBits]:
    """The arm of the largest score, or with probability epsilon any arm (lines 8, 12 to 15).

    Equal scores are decided by a permutation that the first server drew, written below their last
    bit.
    """
    ranked = (scores << shape.rank_bits) + chance.ranks
    length = contract(engine, context, context)
    room = -(length - constant(1 + SLACK, 2 * shape.bits))
    return (yield from taken(engine, shape, ranked, room, chance))

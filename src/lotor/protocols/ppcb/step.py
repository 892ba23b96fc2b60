"""Algorithm 1's inner loop as circuits on shares, with its line numbers.

Least squares is kept in recursive form: of each arm the inverse of its matrix (lines 10 and 21 by
Sherman-Morrison) and its weights, so that b of line 22 is not needed:

    u = A⁻¹ x,  g = 1 / (1 + x·u),  k = g u,   A⁻¹ -= k uᵀ,  w += k (r - w·x)

where A⁻¹, w and u are those of the pulled arm alone, picked by the one-hot vector: so one outer
product is computed and not one for each arm. A⁻¹ is symmetric, and only its upper half is kept.
"""

import numpy as np

from lotor.core.errors import TooLongError
from lotor.crypto.sharing import (
    TOURNAMENT,
    Circuit,
    Engine,
    Masked,
    MaskedBits,
    Shared,
    SharedBits,
    all_of,
    bit_to_word,
    both,
    conjunction,
    constant,
    contract,
    differences,
    group_count,
    halved,
    heats,
    mask,
    mask_bits,
    moved,
    moved_bits,
    multiply,
    negative,
    placed,
    reciprocal,
    reveal_bits,
    together,
    truncate,
    victories,
)
from lotor.protocols.ppcb.shape import (
    INNER_BITS,
    Chance,
    Gains,
    Selected,
    Shape,
    Weights,
    rotations,
    triangle,
)

# How far the square of a context's length may exceed 1, for what fixed point rounds.
SLACK = 2.0**-8


def decide(
    engine: Engine,
    shape: Shape,
    weights: Weights,
    x: Shared,
    chance: Chance,
) -> Circuit[tuple[SharedBits, Selected]]:
    """Lines 8 to 15: the chosen arm as a one-hot vector, and what learning from it will need."""
    opened = yield from together(_opened(engine, shape, weights, x), _turns(engine, chance))
    (context, vectors, inverses), turns = opened
    scores = contract(engine, vectors, context)  # line 11
    one_hot, gains = yield from together(
        _choose(engine, shape, scores, context, chance, turns),
        _gains(engine, shape, scores, context, inverses),
    )
    selected = yield from _select(engine, one_hot, gains)
    return one_hot, selected


def choose(
    engine: Engine, shape: Shape, weights: Weights, x: Shared, chance: Chance
) -> Circuit[SharedBits]:
    """Lines 8 to 15 alone, where the reward comes steps later and weights will have changed."""
    opened = yield from together(
        mask(engine, x), mask(engine, weights.vectors), _turns(engine, chance)
    )
    context, vectors, turns = opened
    scores = contract(engine, vectors, context)
    return (yield from _choose(engine, shape, scores, context, chance, turns))


def recall(
    engine: Engine, shape: Shape, weights: Weights, x: Shared, one_hot: SharedBits
) -> Circuit[Selected]:
    """What learning needs of a choice that was made steps ago, under the weights of now."""
    context, vectors, inverses = yield from _opened(engine, shape, weights, x)
    scores = contract(engine, vectors, context)
    gains = yield from _gains(engine, shape, scores, context, inverses)
    return (yield from _select(engine, one_hot, gains))


def learn(
    engine: Engine,
    shape: Shape,
    weights: Weights,
    one_hot: SharedBits,
    selected: Selected,
    reward: Shared,
) -> Circuit[Weights]:
    """Lines 20 to 23: every arm's weights are computed anew, and those of one arm change.

    The one-hot is the computed one: p' would not have to share the arm that it pulled (lines 17
    and 18), and cannot share another.
    """
    u, g, error, chosen = yield from together(
        mask(engine, selected.u),
        mask(engine, selected.g),
        mask(engine, reward - selected.s),
        bit_to_word(engine, one_hot),
    )
    k = yield from truncate(engine, multiply(engine, u, g), shape.bits)
    rows, columns, _ = triangle(shape.features)
    outer = multiply(
        engine, moved(engine, k, lambda v: v[rows]), moved(engine, u, lambda v: v[columns])
    )
    step = multiply(engine, k, error)
    change = yield from truncate(engine, Shared.concatenate([outer, step]), INNER_BITS)
    changes = multiply(engine, moved(engine, chosen, lambda v: v[:, None]), change)
    return Weights(
        weights.vectors + changes[:, shape.entries :],
        weights.inverses - changes[:, : shape.entries],
    )


def _opened(
    engine: Engine, shape: Shape, weights: Weights, x: Shared
) -> Circuit[tuple[Masked, Masked, Masked]]:
    context, vectors, halves = yield from together(
        mask(engine, x), mask(engine, weights.vectors), mask(engine, weights.inverses)
    )
    _, _, whole = triangle(shape.features)
    return context, vectors, moved(engine, halves, lambda v: v.take(whole, axis=1))


def _turns(engine: Engine, chance: Chance) -> Circuit[tuple[MaskedBits, MaskedBits]]:
    """Each server's own one-hot vector, whose sum modulo A is the arm to explore."""
    nothing = np.zeros_like(chance.turn)
    own = [chance.turn, nothing] if engine.first else [nothing, chance.turn]
    ours, theirs = (SharedBits(turn, first=engine.first) for turn in own)
    return (yield from together(mask_bits(engine, ours), mask_bits(engine, theirs)))


def _choose(
    engine: Engine,
    shape: Shape,
    scores: Shared,
    context: Masked,
    chance: Chance,
    turns: tuple[MaskedBits, MaskedBits],
) -> Circuit[SharedBits]:
    """The arm of the largest score, or with probability epsilon any arm (lines 8, 12 to 15).

    Equal scores are decided by a permutation that the first server drew, written below their last
    bit. Whether to explore is a sum of both servers' coins compared with a threshold.
    """
    k = shape.arms
    ranked = (scores << shape.rank_bits) + chance.ranks
    first = None
    if k >= TOURNAMENT:
        first = yield from heats(engine, ranked, group_count(k))
        ranked = first.winners
    coin = Shared(chance.coin, first=engine.first)
    length = contract(engine, context, context)
    longest = constant(1 + SLACK, 2 * shape.bits)
    compared = [differences(ranked), coin, coin - shape.threshold % (1 << 64), -(length - longest)]
    less = yield from negative(engine, Shared.concatenate(compared))
    half, explores, too_long = yield from together(
        halved(engine, victories(less[:-3], len(ranked))),
        _below(engine, less[-3:-2], less[-2:-1], shape.threshold),
        reveal_bits(less[-1:]),
    )
    if too_long[0]:
        raise TooLongError(
            "the features of all parties together are longer than 1 as a vector: scale them, so "
            "that no context can be"
        )
    exploits = SharedBits.concatenate([half, ~_repeated(explores, len(ranked))[:, None]], axis=1)
    greedy, explored = yield from together(
        all_of(engine, exploits),
        both(engine, _repeated(explores, k), _sum_of(engine, turns, k)),
    )
    if first is not None:
        greedy = yield from placed(engine, first, greedy)
    return SharedBits((greedy.share ^ explored.share) & np.uint8(1), first=engine.first)


def _repeated(bit: SharedBits, count: int) -> SharedBits:
    return SharedBits(np.repeat(bit.share, count), first=bit.first)


def _below(
    engine: Engine, sign: SharedBits, difference: SharedBits, threshold: int
) -> Circuit[SharedBits]:
    """Whether a coin, of 64 bits without a sign, is below the threshold.

    `sign` is the coin's highest bit, `difference` that of the coin less the threshold.
    """
    if threshold >> 64:  # all are
        return engine.shared_bits(np.ones(1, np.uint8))
    if threshold >> 63:
        return ~(yield from both(engine, sign, ~difference))
    return (yield from both(engine, ~sign, difference))


def _sum_of(engine: Engine, turns: tuple[MaskedBits, MaskedBits], k: int) -> SharedBits:
    """The one-hot of the sum of two turns modulo k: their cyclic convolution."""
    others = rotations(k)
    left = moved_bits(engine, turns[0], lambda v: v[None])
    right = moved_bits(engine, turns[1], lambda v: v[others])
    return conjunction(engine, left, right).reduce(axis=1)


def _gains(
    engine: Engine, shape: Shape, scores: Shared, context: Masked, inverses: Masked
) -> Circuit[Gains]:
    directions = contract(engine, inverses, context)
    s, u = yield from together(
        truncate(engine, scores[:, None], shape.bits), truncate(engine, directions, shape.bits)
    )
    leverage = contract(engine, u, context)[:, None]
    g = yield from reciprocal(engine, leverage, shape.bits, INNER_BITS + shape.bits)
    return Gains(u, s, g)


def _select(engine: Engine, one_hot: SharedBits, gains: Gains) -> Circuit[Selected]:
    """The row of the chosen arm: no truncation, since the one-hot is 0 or 1."""
    chosen = yield from bit_to_word(engine, one_hot)
    column = moved(engine, chosen, lambda v: v[:, None])
    u, s, g = (
        multiply(engine, column, values).sum(axis=0) for values in (gains.u, gains.s, gains.g)
    )
    return Selected(u, s, g)

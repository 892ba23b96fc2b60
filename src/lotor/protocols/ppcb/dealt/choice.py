"""The arm of the largest number, or by chance any arm, by tables that are dealt."""

import numpy as np

from lotor.core.errors import TooLongError
from lotor.crypto.sharing import (
    TOURNAMENT,
    Circuit,
    Coins,
    Engine,
    Heats,
    Shared,
    SharedBits,
    Tally,
    differences,
    group_count,
    heats,
    look_up,
    losses,
    negative,
    one_hot_of_sum,
    only,
    placed,
    reveal_tally,
    together,
)
from lotor.protocols.ppcb.shape import TOO_LONG, Chance, StepShape, picked


def taken(
    engine: Engine, shape: StepShape, ranked: Shared, room: Shared, chance: Chance
) -> Circuit[SharedBits]:
    """Lines 8 and 12 to 15; whether the context is too long is found with it.

    Whether to explore is the XOR of both servers' coins compared with a threshold. `ranked` numbers
    are unequal, and `room` is negative if the context is too long.
    """
    first = None
    if shape.arms >= TOURNAMENT:
        first = yield from heats(engine, ranked, group_count(shape.arms))
        ranked = first.winners
    compared = Shared.concatenate([differences(ranked), room])
    coin = SharedBits(chance.coin, first=engine.first)
    less, turn = yield from together(
        negative(engine, compared, Coins(coin, shape.threshold)),
        one_hot_of_sum(engine, chance.turn, shape.arms),
    )
    lost, explores = losses(less[:-2], len(ranked)), less[-1:]
    if first is None:
        place = lost + explores * (shape.arms + 1) + turn * shape.arms
        taking = look_up(engine, place, picked(shape.arms))
    else:
        taking = _placed(engine, first, lost, explores, turn)
    one_hot, too_long = yield from together(taking, reveal_tally(less[-2:-1]))
    if too_long[0]:
        raise TooLongError(TOO_LONG)
    return SharedBits(one_hot.share & np.uint8(1), first=engine.first)


def _placed(
    engine: Engine, first: Heats, lost: Tally, explores: Tally, turn: Tally
) -> Circuit[SharedBits]:
    """The same where `lost` is of groups."""
    groups = lost.shape[0]
    explored: SharedBits
    group, explored = yield from together(
        look_up(engine, lost + explores * groups, only(0, 2 * groups)),
        look_up(engine, turn + explores, only(2, 3)),
    )
    greedy: SharedBits = yield from placed(engine, first, group)
    return greedy ^ explored

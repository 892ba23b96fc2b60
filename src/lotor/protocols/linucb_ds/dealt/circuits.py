"""What P and Comp compute in each round, and at the end."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    Shared,
    SharedBits,
    Words,
    argmax,
    times_known,
    times_known_large,
)
from lotor.protocols.linucb_ds.dealt.terms import TOTAL_BYTES
from lotor.protocols.two_server.schedule import DealerSchedule, StepCircuit


def select(engine: Engine, scores: Shared) -> Circuit[SharedBits]:
    """A bit for each position, 1 at the largest score: the first, if several are equal.

    Scores lie in [0, 2^62), well within what can be compared.
    """
    one_hot = yield from argmax(engine, scores)
    # The other bits of a share would tell which entry of a table it is.
    return SharedBits(one_hot.share & np.uint8(1), first=engine.first)


class DealtCircuits(NamedTuple):
    """The circuits of a run; a step has the first two, the last step the third alone.

    P brings the rows and Comp the vector, which the dealer knows, too.
    """

    products: StepCircuit[Shared, Words, Words]
    selection: StepCircuit[SharedBits, Shared]
    total: StepCircuit[int, Bits, Bits]

    @property
    def schedule(self) -> DealerSchedule:
        """The dealer's messages, one for each step."""
        return DealerSchedule(*self)


@lru_cache(maxsize=8)
def circuits(k: int, d: int, places: int) -> DealtCircuits:
    """The same for both servers and the dealer."""
    rows, vector = np.zeros((k, d), np.uint64), np.zeros(d, np.uint64)
    scores, large = Shared(np.zeros(k, np.uint64), first=False), no_numbers(d)
    return DealtCircuits(
        StepCircuit(0, times_known, (rows, vector), 1, places - 1),
        StepCircuit(1, select, (scores,), 1, places - 1),
        StepCircuit(2, times_known_large, (large, large), places, places),
    )


def no_numbers(d: int) -> Bits:
    """In the place of what the other server brings to the total."""
    return np.zeros((d, TOTAL_BYTES), np.uint8)

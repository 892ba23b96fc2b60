"""Which arm has the largest score, computed on shares."""

from functools import lru_cache

import numpy as np

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.sharing import Circuit, Engine, Shared, SharedBits, argmax
from lotor.protocols.samba.dealt.terms import SambaDealtTerms
from lotor.protocols.two_server.schedule import DealerSchedule, StepCircuit

# Scores lie in [0, 2^63), and what is compared in [-2^62, 2^62).
_CENTRE = 1 << (SCORE_BITS - 1)


def select(engine: Engine, scores: Shared) -> Circuit[SharedBits]:
    """A bit for each arm, 1 at the largest score: the first, if several are equal."""
    one_hot = yield from argmax(engine, scores - _CENTRE)
    # The other bits of a share would tell the dealer and an owner which entry of a table it is.
    return SharedBits(one_hot.share & np.uint8(1), first=engine.first)


@lru_cache(maxsize=8)
def _selection(k: int, turns: int) -> StepCircuit[SharedBits, Shared]:
    zeros = Shared(np.zeros(k, np.uint64), first=False)
    return StepCircuit(number=0, compute=select, zeros=(zeros,), first=1, last=turns)


def selection(terms: SambaDealtTerms) -> StepCircuit[SharedBits, Shared]:
    """The one circuit of every turn, the same for both servers and the dealer."""
    return _selection(terms.k, terms.argmaxes)


def schedule(terms: SambaDealtTerms) -> DealerSchedule:
    """The dealer's messages, one for each turn."""
    return DealerSchedule(selection(terms))

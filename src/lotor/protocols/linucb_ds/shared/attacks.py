"""What Comp makes of the rows and shares that it sees in the shared form."""

from typing import ClassVar

import numpy as np

from lotor.core.draws import Words
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.linucb_ds.attacks import world_of
from lotor.protocols.linucb_ds.shared.comp import LinUCBSharedComp
from lotor.protocols.linucb_ds.shared.messages import CoveredRows
from lotor.protocols.linucb_ds.shared.schedule import SCORE_BITS


class ArmsFromCoveredRows(Attack):
    """Comp, if it knows the catalogue of arms, takes covered rows for what they cover.

    In each round it finds the row that is the largest in its own share of theta's direction, and
    the arm that points where this row does.
    """

    name: ClassVar[str] = "arms, from covered rows and the catalogue"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        vectors = world_of(truth).vectors
        (comp,) = (one for one in view.parties.values() if isinstance(one, LinUCBSharedComp))
        _, share = comp.theta_share()
        theta = _signed(np.array(share, np.uint64))
        guesses = []
        for one in view.exchanges:
            if isinstance(one.message, CoveredRows):
                words = np.frombuffer(one.message.rows, "<u8").reshape(vectors.shape)
                rows = _signed(words)
                best = rows[(rows @ theta).argmax()]
                guesses.append(int((vectors @ best).argmax()))
        # Nothing is sent in the first round.
        pairs = zip(guesses, truth.arms[1:], strict=True)
        return Score(sum(a == b for a, b in pairs), len(guesses), blind(truth.arms[1:]))


def _signed(words: Words) -> Floats:
    """Words modulo 2^59 as numbers around 0."""
    lifted: Floats = (words << np.uint64(64 - SCORE_BITS)).view(np.int64).astype(np.float64)
    return lifted

"""What Comp makes of the rows and shares that it sees in the shared form."""

import numpy as np

from lotor.core.draws import Words
from lotor.core.views import View
from lotor.policies.linear.layout import Integers
from lotor.protocols.linucb_ds.attacks import messages_in, party_of
from lotor.protocols.linucb_ds.shared.comp import LinUCBSharedComp, agreed
from lotor.protocols.linucb_ds.shared.messages import CoveredRows, ProductBatch
from lotor.protocols.linucb_ds.shared.pads import MASK
from lotor.protocols.linucb_ds.shared.schedule import SCORE_BITS
from lotor.protocols.linucb_ds.theta.attacks import ArmsFromRows, ScoresFromShares

_UNUSED = np.uint64(64 - SCORE_BITS)


class ScoresFromCircuitShares(ScoresFromShares):
    """Comp's share in the circuit of each round."""

    def shares(self, view: View) -> list[Words]:
        comp = party_of(view.parties, LinUCBSharedComp)
        terms, holding, schedule = agreed(comp._memory)
        theta = np.array(holding.in_scores(terms), np.uint64)
        products = [comp._key.read(one.products) for one in messages_in(view, ProductBatch)]
        found = []
        for turn, sent in enumerate(messages_in(view, CoveredRows)):
            batch, slots = schedule.product_place(turn)
            rows = np.frombuffer(sent.rows, "<u8").reshape(holding.k, holding.d)
            moved = np.frombuffer(sent.shares, "<u8")
            found.append((rows @ theta + products[batch][slots] + moved) & MASK)
        return found


class ArmsFromCoveredRows(ArmsFromRows):
    """P alone knows the pads."""

    def rows(self, view: View) -> list[Integers]:
        _, holding, _ = agreed(party_of(view.parties, LinUCBSharedComp)._memory)
        words = (np.frombuffer(sent.rows, "<u8") for sent in messages_in(view, CoveredRows))
        # Numbers modulo 2^59, around 0.
        return [
            ((each << _UNUSED).view(np.int64) >> np.int64(_UNUSED)).reshape(holding.k, holding.d)
            for each in words
        ]

"""What the two servers of the dealt form read if they collude."""

import numpy as np

from lotor.core.views import View
from lotor.protocols.samba import attacks
from lotor.protocols.samba.dealt.controller import SambaDealtController
from lotor.protocols.samba.dealt.messages import DealtScores
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.samba.terms import terms_from
from lotor.protocols.samba.tracking import Lists
from lotor.protocols.two_server.outside import InputSharer


class JoinedShares(attacks.ArgmaxOf):
    """Controller derives one share of each score, and Comp is sent the other."""

    def scores(self, view: View) -> Lists:
        terms = terms_from(SambaDealtTerms, view.order)
        (first,) = (one for one in view.parties.values() if isinstance(one, SambaDealtController))
        sharers = {
            owner: InputSharer(key, SEATS) for owner, key in first._memory.keys.inputs.items()
        }
        sent: dict[str, list[bytes]] = {owner: [] for owner in terms.owners}
        for one in view.exchanges:
            if isinstance(one.message, DealtScores):
                sent[one.sender].append(one.message.shares)
        found: dict[tuple[int, int], list[int]] = {}
        for number, (t, l) in enumerate(attacks.places(terms)):
            found[t, l] = []
            for owner, held in terms.owners.items():
                # Comp's share of 0 is what its share of a score lacks.
                nothing = sharers[owner].share(np.zeros(held, np.uint64), terms.turn(t, l))
                shares = (np.frombuffer(data, np.uint64) for data in (sent[owner][number], nothing))
                found[t, l] += np.subtract(*shares).tolist()
        return found

"""What the two servers of the shared form read if they collude."""

import numpy as np

from lotor.core.views import View
from lotor.protocols.samba import attacks
from lotor.protocols.samba.shared.comp import SambaSharedComp, owners_keys
from lotor.protocols.samba.shared.messages import CoveredScores
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.terms import terms_from
from lotor.protocols.samba.tracking import Lists


class UncoveredScores(attacks.ArgmaxOf):
    """Controller has v xor b of all arms, and Comp has b."""

    def scores(self, view: View) -> Lists:
        terms = terms_from(SambaSharedTerms, view.order)
        (comp,) = (one for one in view.parties.values() if isinstance(one, SambaSharedComp))
        pads = AllPads(owners_keys(comp._memory.owners_key, terms), terms.owners)
        covered: dict[str, list[bytes]] = {owner: [] for owner in terms.owners}
        for one in view.exchanges:
            if isinstance(one.message, CoveredScores):
                covered[one.sender].append(one.message.scores)
        found = {}
        for turn, (t, l) in enumerate(attacks.places(terms)):
            words = b"".join(sent[turn] for sent in covered.values())
            scores = np.frombuffer(words, "<u8") ^ pads.shares(t, l)
            found[t, l] = scores.tolist()
        return found

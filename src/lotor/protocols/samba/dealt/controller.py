"""Controller: relays terms and keys, and is the first of the two servers."""

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.protocols.received import check_announced
from lotor.protocols.samba.dealt.messages import DealtTieKey
from lotor.protocols.samba.dealt.server import SambaDealtServer
from lotor.protocols.samba.dealt.terms import SambaDealtTerms
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.relay import hand_out_terms, relay_keys
from lotor.protocols.samba.tagged_totals import TaggedShare, drawn_share


class SambaDealtController(SambaDealtServer):
    """Its shares of scores and totals are functions of keys that the owners send it.

    `tie_key` decides ties: it comes from a seed in a simulation, and is fresh elsewhere.
    """

    number = 0

    def __init__(
        self,
        terms: SambaDealtTerms,
        *,
        tie_key: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        super().__init__(terms, snapshot=snapshot)
        if snapshot is None:
            self._memory.tie_key = tie_key or new_key()

    def _set_up(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        order: SambaOrder = yield Receive("customer", SambaOrder)  # step 0
        check_announced(order.terms, terms.to_bytes(), terms.run)
        first, *others = terms.owners
        yield from hand_out_terms(order, list(terms.owners))  # step 1
        yield from relay_keys(terms, {"customer": list(terms.owners), first: others})
        yield from self._sharing.set_up(terms.digest, readers=(), sources=terms.owners)
        yield Send("comp", DealtTieKey(terms.digest, memory.tie_key))

    def _totals(self) -> Steps[list[TaggedShare]]:
        yield from ()
        keys = self._memory.keys.inputs
        return [drawn_share(keys[owner]) for owner in self._terms.owners]

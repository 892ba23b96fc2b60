"""The data customer: orders a run, gives the owners the key of their tags, and reads the total."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.samba.dealt.messages import WIRE, DealtTotal
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.samba.keys import TERMS, KeyRing
from lotor.protocols.samba.messages import Offers, SambaOrder
from lotor.protocols.samba.tagged_totals import TaggedShare, alpha_from, total
from lotor.protocols.two_server.checks import check_place, place_of

TAG_KEY = "tag key"


class SambaDealtCustomerMemory(Memory, tag=WIRE + "customer"):
    """`tag_key` catches a server that alters the total."""

    tag_key: bytes


class SambaDealtCustomer(Party):
    """Figure 6 (d)."""

    def __init__(
        self, identity: Identity, terms: SambaDealtTerms, *, snapshot: bytes | None = None
    ) -> None:
        self._ring = KeyRing(identity, terms.run)
        self._terms = terms
        self._memory = (
            SambaDealtCustomerMemory(party=identity.name, run=terms.run, tag_key=new_key())
            if snapshot is None
            else restored(SambaDealtCustomerMemory, snapshot, identity.name, terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return self._ring.operations()

    def steps(self) -> Steps[float]:
        ring, terms, tag_key = self._ring, self._terms, self._memory.tag_key
        yield Checkpoint(self._memory.dump)
        ordered = terms.to_bytes()
        signatures = {owner: ring.sign(ordered, TERMS, owner) for owner in terms.owners}
        yield Send("controller", SambaOrder(ordered, signatures))  # step 0
        offers: Offers = yield Receive("controller", Offers)
        keys = dict.fromkeys(terms.owners, tag_key)
        yield Send("controller", ring.seal(keys, offers, TAG_KEY))  # step 1

        first = yield from self._sum_of(SEATS.first)  # step 7
        second = yield from self._sum_of(SEATS.second)
        alpha, complete = alpha_from(tag_key), terms.rules.at_once
        reward, self.outcomes = total(first, second, alpha, terms.budget, complete=complete)
        return terms.scale.total(reward, self.outcomes)

    def _sum_of(self, server: str) -> Steps[TaggedShare]:
        message: DealtTotal = yield Receive(server, DealtTotal)
        check_place(message, place_of(self._terms.end), server)
        return TaggedShare.from_bytes(message.shares, server)

"""The data customer: orders a run, gives the owners the key of their tags, and reads the total."""

from collections.abc import Mapping

import numpy as np

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.revealed import Revealed
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.revealing import COUNTS, told_arm, told_counts
from lotor.protocols.samba.dealt.messages import WIRE, DealtBits, DealtCounts, DealtTotal
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.samba.keys import TERMS, KeyRing
from lotor.protocols.samba.messages import Offers, SambaOrder
from lotor.protocols.samba.tagged_totals import TaggedShare, alpha_from, total
from lotor.protocols.samba.told import check_counts, the_one
from lotor.protocols.two_server.checks import check_place, place_of, words_from
from lotor.protocols.two_server.outside import read_bits

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

        told = yield from self._receive_told()
        first = yield from self._sum_of(SEATS.first)  # step 7
        second = yield from self._sum_of(SEATS.second)
        alpha, complete = alpha_from(tag_key), terms.rules.at_once
        reward, self.outcomes = total(first, second, alpha, terms.budget, complete=complete)
        self.revealed = self._told(told, self.outcomes)
        return terms.scale.total(reward, self.outcomes)

    def _receive_told(self) -> Steps[list[int]]:
        """A number for each arm, if this party is told more than the total."""
        terms = self._terms
        if terms.final_turn is not None:
            bits = yield from read_bits(DealtBits, terms.told, terms.k, SEATS, len(terms.owners))
            return [int(bit) for bit in bits]
        counts = np.zeros(terms.k, np.uint64)
        for server in SEATS[:2] if terms.reveal == COUNTS else ():
            message: DealtCounts = yield Receive(server, DealtCounts)
            check_place(message, place_of(terms.told), server)
            counts += words_from(message.shares, terms.k, server, terms.told)
        return [int(count) for count in counts]

    def _told(self, found: list[int], outcomes: int) -> Revealed | None:
        terms = self._terms
        if terms.final_turn is not None:
            arm = the_one(found, by="controller or comp")
            return told_arm(terms.reveal, terms.all_numbers[arm], terms.arm_names)
        if terms.reveal == COUNTS:
            check_counts(found, outcomes)
            return told_counts(terms.by_number(found), terms.arm_names)
        return None

    def _sum_of(self, server: str) -> Steps[TaggedShare]:
        message: DealtTotal = yield Receive(server, DealtTotal)
        check_place(message, place_of(self._terms.end), server)
        return TaggedShare.from_bytes(message.shares, server)

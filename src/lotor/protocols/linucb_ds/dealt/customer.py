"""The data client DC: orders a run, and adds up the two shares of the sum of rewards."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.dealt.messages import WIRE, DealtRewards, DealtUnit
from lotor.protocols.linucb_ds.dealt.terms import SEATS, LinUCBDealtTerms
from lotor.protocols.linucb_ds.messages import LinUCBOrder
from lotor.protocols.linucb_ds.terms import PURPOSE
from lotor.protocols.linucb_ds.theta.shares import centred, from_bytes
from lotor.protocols.linucb_ds.totals import in_units
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.two_server.checks import check_place, place_of


class LinUCBDealtCustomerMemory(Memory, tag=WIRE + "customer"):
    """Its place in the run only: it has no key of its own."""


class LinUCBDealtCustomer(Party):
    """Steps 1 and 7 of Figure 3."""

    def __init__(
        self, identity: Identity, terms: LinUCBDealtTerms, *, snapshot: bytes | None = None
    ) -> None:
        self._identity = identity
        self._terms = terms
        self._memory = (
            LinUCBDealtCustomerMemory(party=identity.name, run=terms.run)
            if snapshot is None
            else restored(LinUCBDealtCustomerMemory, snapshot, identity.name, terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[float]:
        terms = self._terms
        yield Checkpoint(self._memory.dump)
        ordered = terms.to_bytes()
        signatures = {
            name: self._identity.sign(ordered, run=terms.run, purpose=PURPOSE, recipient=name)
            for name in terms.parties
        }
        yield Send("principal", LinUCBOrder(ordered, signatures))  # step 1
        unit: DealtUnit = yield Receive("principal", DealtUnit)  # step 7
        total = 0
        for server in SEATS[:2]:
            message: DealtRewards = yield Receive(server, DealtRewards)
            check_place(message, place_of(terms.places), server)
            total += from_bytes(message.shares, 1, terms.total_modulus, server)[0]
        return in_units(terms, centred(total, terms.total_modulus), unit.longest, unit.k, unit.d)

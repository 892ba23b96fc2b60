"""The data customer DC: orders a run and alone learns the total."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import FormatError, ProtocolError
from lotor.core.fixed_point import REWARD_ONE
from lotor.crypto.paillier import PrivateKey
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.party import Party
from lotor.protocols.received import ciphertext_from
from lotor.protocols.samba.keys import TERMS, KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.paper.messages import SambaTotal
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.paper.totals import unpacked
from lotor.protocols.samba.tagged_totals import counts


class SambaPaperCustomerMemory(SambaMemory, tag="samba/3/customer", kw_only=True):
    """The terms that it orders, and the key that opens the answer."""

    terms: SambaPaperTerms | None = None
    private_key: bytes


class SambaPaperCustomer(Party):
    """Figure 6 (d)."""

    def __init__(self, identity: Identity, order: SambaPaperTerms, key: PrivateKey) -> None:
        self._ring = KeyRing(identity, order.run)
        self._order = order
        self._key = key
        self._decryptions = 0

    @classmethod
    def restored(
        cls, identity: Identity, run: str, policy: Policy, snapshot: bytes, *, minimum_key_bits: int
    ) -> "SambaPaperCustomer":
        memory = restored_with(SambaPaperCustomerMemory, snapshot, identity.name, run, policy)
        if memory.terms is None:
            raise FormatError(
                "this snapshot has no order, so it is not the customer's: restore its own"
            )
        key = PrivateKey.from_bytes(memory.private_key, minimum_bits=minimum_key_bits)
        return cls(identity, memory.terms, key)

    def operations(self) -> Mapping[str, int]:
        return {"paillier_decryptions": self._decryptions, **self._ring.operations()}

    def _snapshot(self) -> bytes:
        order = self._order
        return SambaPaperCustomerMemory(
            party=self._ring.identity.name,
            run=order.run,
            policy=order.policy,
            terms=order,
            private_key=self._key.to_bytes(),
        ).dump()

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._snapshot)
        order = self._order
        terms = order.to_bytes()
        recipients = ("comp", *order.owners)
        signatures = {name: self._ring.sign(terms, TERMS, name) for name in recipients}
        yield Send("controller", SambaOrder(terms, signatures))  # step 0

        reply: SambaTotal = yield Receive("controller", SambaTotal)  # step 7
        ciphertext = ciphertext_from(reply.total, self._key.public, "controller")
        reward, pulls = unpacked(self._key.decrypt(ciphertext))
        self._decryptions += 1
        complete = order.rules.at_once
        if not counts(pulls, order.budget, complete=complete) or reward > pulls * REWARD_ONE:
            raise ProtocolError(
                f"the total counts {pulls} pulls instead of {order.budget}, so it is worthless: "
                "messages were swapped or replaced on their way, or an owner miscounts"
            )
        self.outcomes = pulls
        return order.scale.total(reward, pulls)

"""The data customer in the shared form: adds the servers' shares, and alone learns the total."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import FormatError
from lotor.crypto.prf import new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import TERMS, KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaOrder
from lotor.protocols.samba.shared.comp import COMP_SUM
from lotor.protocols.samba.shared.era import Era, Loss
from lotor.protocols.samba.shared.final_turn import FinalReader
from lotor.protocols.samba.shared.messages import WIRE, OwnersLeft, SharedTotal
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.tagged_totals import TaggedShare, alpha_from, total

TAG_KEY = "tag key"


class SambaSharedCustomerMemory(SambaMemory, tag=WIRE + "customer", kw_only=True):
    """The terms that it orders, the key that opens Comp's sum, and the key of tags."""

    terms: SambaSharedTerms | None = None
    sealing_key: bytes
    tag_key: bytes


class SambaSharedCustomer(Party):
    """Orders a run, and checks that nobody changed its total."""

    def __init__(self, identity: Identity, memory: SambaSharedCustomerMemory) -> None:
        if memory.terms is None:
            raise FormatError(
                "this snapshot has no order, so it is not the customer's: restore its own"
            )
        self._order = memory.terms
        self._memory = memory
        self._ring = KeyRing(identity, memory.run)

    @classmethod
    def ordering(
        cls, identity: Identity, terms: SambaSharedTerms, sealing: SealingKey
    ) -> "SambaSharedCustomer":
        """A new run; `sealing` opens what is sealed to the terms' key."""
        memory = SambaSharedCustomerMemory(
            party=identity.name,
            run=terms.run,
            policy=terms.policy,
            terms=terms,
            sealing_key=sealing.private_bytes(),
            tag_key=new_key(),
        )
        return cls(identity, memory)

    @classmethod
    def restored(
        cls, identity: Identity, run: str, policy: Policy, snapshot: bytes
    ) -> "SambaSharedCustomer":
        kind = SambaSharedCustomerMemory
        return cls(identity, restored_with(kind, snapshot, identity.name, run, policy))

    def operations(self) -> Mapping[str, int]:
        return self._ring.operations()

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._memory.dump)
        order = self._order
        terms = order.to_bytes()
        recipients = ("comp", *order.owners)
        signatures = {name: self._ring.sign(terms, TERMS, name) for name in recipients}
        yield Send("controller", SambaOrder(terms, signatures))  # step 0
        offers: Offers = yield Receive("controller", Offers)
        keys = dict.fromkeys(order.owners, self._memory.tag_key)
        yield Send("controller", self._ring.seal(keys, offers, TAG_KEY))  # step 2

        sealing = SealingKey(self._memory.sealing_key)
        final = FinalReader(self._ring, sealing, order)
        yield from final.receive()
        losses: list[Loss] = []
        reply: SharedTotal | OwnersLeft = yield Receive("controller", SharedTotal, OwnersLeft)
        while isinstance(reply, OwnersLeft):
            era = Era(order, losses)
            # Rounds pass without a word to the customer.
            losses.append(era.checked(self._ring.identity, reply, max(era.first, reply.t)))
            reply = yield Receive("controller", SharedTotal, OwnersLeft)
        # Step 13.
        opened = self._ring.open(sealing, reply.comp, "comp", COMP_SUM)
        first = TaggedShare.from_bytes(reply.controller, "controller")
        second = TaggedShare.from_bytes(opened, "comp")
        alpha, complete = alpha_from(self._memory.tag_key), order.rules.at_once and not losses
        reward, self.outcomes = total(first, second, alpha, order.budget, complete=complete)
        self.left = {owner: loss.t for loss in losses for owner in loss.owners}
        self.revealed = final.told(self.outcomes)
        return order.scale.total(reward, self.outcomes)

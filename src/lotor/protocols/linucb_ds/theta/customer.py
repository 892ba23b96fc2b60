"""The data client DC where theta is shared: orders a run and alone learns the sum of rewards."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import FormatError
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.messages import WIRE, LinUCBOrder
from lotor.protocols.linucb_ds.terms import PURPOSE, terms_from
from lotor.protocols.linucb_ds.theta.terms import SharingTerms
from lotor.protocols.linucb_ds.theta.total_shares import TotalShares, opened_total
from lotor.protocols.linucb_ds.totals import in_units
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party


class ThetaCustomerMemory(Memory, tag=WIRE + "theta-customer"):
    """The terms that it orders, as bytes, and the key that opens Comp's share."""

    sealing_key: bytes
    order: bytes = b""


class ThetaCustomer(Party):
    """Steps 1 and 7 of Figure 3, with shares in the place of ciphertexts."""

    def __init__(self, identity: Identity, order: SharingTerms, key: SealingKey) -> None:
        self._identity = identity
        self._order = order
        self._key = key

    @classmethod
    def restored(
        cls, identity: Identity, run: str, kind: type[SharingTerms], snapshot: bytes
    ) -> "ThetaCustomer":
        memory = restored(ThetaCustomerMemory, snapshot, identity.name, run)
        if not memory.order:
            raise FormatError(
                "this snapshot has no order, so it is not the customer's: restore its own"
            )
        return cls(identity, terms_from(kind, memory.order), SealingKey(memory.sealing_key))

    def operations(self) -> Mapping[str, int]:
        return {
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def _snapshot(self) -> bytes:
        return ThetaCustomerMemory(
            party=self._identity.name,
            run=self._order.run,
            sealing_key=self._key.private_bytes(),
            order=self._order.to_bytes(),
        ).dump()

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._snapshot)
        order = self._order
        terms = order.to_bytes()
        signatures = {
            name: self._identity.sign(terms, run=order.run, purpose=PURPOSE, recipient=name)
            for name in order.parties
        }
        yield Send("principal", LinUCBOrder(terms, signatures))  # step 1
        shares: TotalShares = yield Receive("principal", TotalShares)  # step 9
        total = opened_total(order, self._identity, self._key, shares)
        return in_units(order, total, shares.longest, shares.k, shares.d)

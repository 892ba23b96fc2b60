"""The data customer DC: orders a run and alone learns the total."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.paillier import PrivateKey
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.samba.keys import TERMS, KeyRing
from lotor.protocols.samba.memory import Memory, restored
from lotor.protocols.samba.messages import Order, Total
from lotor.protocols.samba.terms import Terms
from lotor.protocols.samba.totals import received_ciphertext, unpacked


class CustomerMemory(Memory, tag="samba/1/customer"):
    """The order, and the key that opens its answer."""

    order: Terms
    private_key: bytes


class Customer:
    """Figure 6 (d)."""

    def __init__(self, identity: Identity, order: Terms, key: PrivateKey) -> None:
        self._ring = KeyRing(identity, order.run)
        self._order = order
        self._key = key
        self._decryptions = 0

    @classmethod
    def restored(
        cls, identity: Identity, run: str, policy: Policy, snapshot: bytes, *, minimum_key_bits: int
    ) -> "Customer":
        memory = restored(CustomerMemory, snapshot, run, policy)
        key = PrivateKey.from_bytes(memory.private_key, minimum_bits=minimum_key_bits)
        return cls(identity, memory.order, key)

    def operations(self) -> Mapping[str, int]:
        return {"paillier_decryptions": self._decryptions, **self._ring.operations()}

    def _snapshot(self) -> bytes:
        order = self._order
        return CustomerMemory(
            run=order.run, policy=order.policy, order=order, private_key=self._key.to_bytes()
        ).dump()

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._snapshot)
        order = self._order
        terms = order.to_bytes()
        recipients = ("comp", *order.owners)
        signatures = {name: self._ring.sign(terms, TERMS, name) for name in recipients}
        yield Send("controller", Order(terms, signatures))  # step 0

        reply: Total = yield Receive("controller", Total)  # step 7
        ciphertext = received_ciphertext(reply.total, self._key.public, "controller")
        reward, pulls = unpacked(self._key.decrypt(ciphertext))
        self._decryptions += 1
        if pulls != order.budget:
            raise ProtocolError(
                f"the owners pulled {pulls} times, not {order.budget}: messages of one round "
                "were exchanged on their way, or an owner miscounts; the total is worthless"
            )
        return order.scale.total(reward, pulls)

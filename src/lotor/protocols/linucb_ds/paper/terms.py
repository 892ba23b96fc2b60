"""What the customer orders, as every party must agree on it."""

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.core.unreadable import UNREADABLE
from lotor.policies import from_text
from lotor.policies.linear import LinearPolicy, SlotBits
from lotor.protocols.linucb_ds.protocol import LEAST_BUDGET, SLOT_BITS

PURPOSE = "terms"
MOST_ARMS = 1 << 31


class LinUCBTerms(msgspec.Struct, frozen=True):
    """N, the policy with its constants, the width of a slot, both Paillier keys' size."""

    run: str
    budget: int
    policy: str
    slot_bits: SlotBits
    key_bits: int
    customer_key: bytes

    def to_bytes(self) -> bytes:
        """What the customer signs."""
        return msgspec.msgpack.encode(self)

    def check(self, run: str) -> LinearPolicy:
        """The policy that was ordered; refuses terms of another run, and impossible terms."""
        try:
            policy = from_text(self.policy)
        except InputError as error:
            raise ProtocolError(f"customer ordered a policy not known here: {error}") from None
        if not isinstance(policy, LinearPolicy):
            raise ProtocolError(
                f"customer ordered {self.policy}, which is not a linear policy: order one such as "
                "linucb"
            )
        fits = LEAST_BUDGET <= self.budget <= MAXIMAL_BUDGET and self.slot_bits in SLOT_BITS
        if self.run != run or not fits:
            raise ProtocolError(
                f"customer ordered {self.budget} pulls in run {self.run} with slots of "
                f"{self.slot_bits} bits, which cannot be done in run {run}: order it again"
            )
        return policy


def terms_from(data: bytes) -> LinUCBTerms:
    """Terms from the bytes that the customer signed."""
    try:
        return msgspec.msgpack.decode(data, type=LinUCBTerms)
    except UNREADABLE:
        raise ProtocolError(
            "customer signed terms that this version cannot read: let it order with this version"
        ) from None

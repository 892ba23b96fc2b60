"""What the terms of the shared form say besides."""

from typing import ClassVar

from lotor.core.errors import ProtocolError
from lotor.crypto.sealing import PUBLIC_KEY_BYTES
from lotor.policies.linear import LinearPolicy, SlotBits
from lotor.protocols.linucb_ds.shared.messages import WIRE
from lotor.protocols.linucb_ds.shared.schedule import SCORE_BITS, TOTAL_MODULUS, size_of
from lotor.protocols.linucb_ds.theta.terms import SharingTerms


class LinUCBSharedTerms(SharingTerms, frozen=True, tag=WIRE + "terms"):
    """Comp seals its share of the total to `customer_key`."""

    widths: ClassVar[tuple[SlotBits, ...]] = (SCORE_BITS,)
    wire: ClassVar[str] = WIRE
    holders: ClassVar[tuple[str, ...]] = ("comp",)
    score_modulus: ClassVar[int] = 1 << SCORE_BITS
    total_modulus: ClassVar[int] = int(TOTAL_MODULUS.product)

    customer_key: bytes

    @classmethod
    def check_size(cls, k: int, d: int) -> None:
        size_of(k, d)

    def check(self, run: str) -> LinearPolicy:
        policy = super().check(run)
        if len(self.customer_key) != PUBLIC_KEY_BYTES:
            raise ProtocolError(
                "customer gave no key to seal the total to: it runs another version; order it with "
                "this one"
            )
        return policy

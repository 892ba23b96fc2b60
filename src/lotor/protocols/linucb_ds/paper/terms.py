"""What the terms of the paper's form add: the Paillier keys."""

from typing import ClassVar

from lotor.policies.linear import SlotBits
from lotor.protocols.linucb_ds.protocol import SLOT_BITS
from lotor.protocols.linucb_ds.terms import LinUCBTerms


class LinUCBPaperTerms(LinUCBTerms, frozen=True):
    """How large both Paillier keys are, and the customer's."""

    widths: ClassVar[tuple[SlotBits, ...]] = SLOT_BITS

    key_bits: int
    customer_key: bytes

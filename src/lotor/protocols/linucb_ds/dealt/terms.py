"""What the terms of the dealt form add: who computes, with which shares, and for how many arms."""

from typing import ClassVar

from lotor.core.errors import InputError
from lotor.policies.linear import SlotBits
from lotor.protocols.linucb_ds.dealt.messages import WIRE
from lotor.protocols.linucb_ds.protocol import SLOTS_OF_FORMS
from lotor.protocols.linucb_ds.theta.terms import SharingTerms
from lotor.protocols.two_server.schedule import ServerSeats

SEATS = ServerSeats("principal", "comp", "dealer")

# What is dealt for one round must fit in a frame of 16 MiB, and so must the owner's model: a test
# computes it.
MOST_ARMS = 1 << 14
MOST_WORDS = 15 << 17
# Of each dimension: an eigenvalue, and P's shares of theta for scores and for the total.
WORDS_BESIDE = 5

TOTAL_BYTES = 24
"""Of a share of the total: 2^192 is far above the largest sum, so that an altered one shows."""


class LinUCBDealtTerms(SharingTerms, frozen=True):
    """Round t is step t of both servers; step N is the total."""

    wire: ClassVar[str] = WIRE
    widths: ClassVar[tuple[SlotBits, ...]] = (SLOTS_OF_FORMS["dealt"],)
    holders: ClassVar[tuple[str, ...]] = ("comp", "dealer")
    score_modulus: ClassVar[int] = 1 << 64
    total_modulus: ClassVar[int] = 1 << 8 * TOTAL_BYTES

    @classmethod
    def check_size(cls, k: int, d: int) -> None:
        most = min(MOST_ARMS, max(0, MOST_WORDS // d - WORDS_BESIDE))
        if k > most:
            raise InputError(
                f"{k} arms do not fit in the messages of form='dealt', which have room for {most} "
                f"in {d} dimensions: take fewer arms or dimensions"
            )

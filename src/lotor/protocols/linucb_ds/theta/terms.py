"""What the terms say of theta's shares."""

from hashlib import sha256
from typing import ClassVar

from lotor.crypto.signing import place
from lotor.protocols.linucb_ds.terms import LinUCBTerms


class SharingTerms(LinUCBTerms, frozen=True):
    """The shares of theta with which scores are computed, and those for the total.

    The first must not be told apart from uniform ones in slots of the form's width; the second
    have room for the whole total. `holders` are sealed the key that their share follows from.
    """

    wire: ClassVar[str]
    """The form's, so that no two forms have the same digest."""

    holders: ClassVar[tuple[str, ...]]
    score_modulus: ClassVar[int]
    total_modulus: ClassVar[int]

    def digest(self, k: int, d: int) -> bytes:
        """Equal at two parties only if their terms are equal, and K and d are."""
        named = place(self.wire, str(k), str(d))
        return sha256(named + self.to_bytes()).digest()

    @classmethod
    def check_size(cls, k: int, d: int) -> None:
        """Refuse more arms or dimensions than the form's messages have room for."""

    @property
    def parties(self) -> tuple[str, ...]:
        """For whom the customer signs its order, P apart."""
        return *self.holders, "owner"

"""What the terms say of theta's shares."""

from hashlib import sha256
from typing import ClassVar

from lotor.crypto.signing import place
from lotor.protocols.linucb_ds.terms import LinUCBTerms


class SharingTerms(LinUCBTerms, frozen=True):
    """Theta has two pairs of shares, for scores and for the total; here is modulo what they add up.

    Scores fit in the first modulus, and the total in the second, which is far larger. `holders`
    are sent, sealed, the key that their shares follow from; P has the others.
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

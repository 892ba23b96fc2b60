"""How the parties agree on a run's terms and keys through a Controller that must not read them.

Whatever a party hands out is signed over the run, its purpose and its recipient; keys are sealed
to the recipient besides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lotor.core.errors import ProtocolError
from lotor.crypto.sealing import SealingKey, seal
from lotor.crypto.signing import Identity, place
from lotor.policies import Policy
from lotor.protocols.samba.messages import (
    Offers,
    SambaOffer,
    SambaSealedKey,
    SambaSetup,
    SealedKeys,
    SignedOffer,
)
from lotor.protocols.samba.terms import SambaTerms, accepted_terms

TERMS = "terms"
SEALING_KEY = "sealing key"

T = TypeVar("T", bound=SambaTerms)


@dataclass(slots=True)
class KeyRing:
    """A party's identity within one run, and the sealing and signing it does with it.

    If the run was announced, `order` is its terms, and no others are accepted.
    """

    identity: Identity
    run: str
    order: bytes | None = None
    seals: int = 0
    opens: int = 0

    def accept(self, setup: SambaSetup, kind: type[T], policy: Policy) -> T:
        """The customer's terms, if it signed them for this party and this party can keep them."""
        self.identity.verify(
            setup.terms,
            setup.signature,
            sender="customer",
            run=self.run,
            purpose=TERMS,
            recipient=self.identity.name,
        )
        return accepted_terms(kind, setup.terms, self.order, self.run, policy)

    def sign(self, data: bytes, purpose: str, recipient: str) -> bytes:
        return self.identity.sign(data, run=self.run, purpose=purpose, recipient=recipient)

    def offer(self, public: bytes, makers: Iterable[str]) -> SambaOffer:
        """A public key, for each party that makes keys for this one."""
        signatures = {maker: self.sign(public, SEALING_KEY, maker) for maker in makers}
        return SambaOffer(public, signatures)

    def seal(self, keys: Mapping[str, bytes], offers: Offers, purpose: str) -> SealedKeys:
        """Seal to each owner its key: to those that the terms name, and to nobody else."""
        if [offer.owner for offer in offers.offers] != list(keys):
            raise ProtocolError(
                f"controller did not ask {self.identity.name} to seal the {purpose} to exactly the "
                f"owners of this run ({', '.join(keys)})"
            )
        sealed = [self._seal_one(keys[offer.owner], offer, purpose) for offer in offers.offers]
        return SealedKeys(sealed)

    def _seal_one(self, secret: bytes, offer: SignedOffer, purpose: str) -> SambaSealedKey:
        self.identity.verify(
            offer.public,
            offer.signature,
            sender=offer.owner,
            run=self.run,
            purpose=SEALING_KEY,
            recipient=self.identity.name,
        )
        return self.seal_to(offer.owner, offer.public, secret, purpose)

    def seal_to(self, recipient: str, public: bytes, secret: bytes, purpose: str) -> SambaSealedKey:
        """A secret for a recipient whose public key is known to be its own."""
        self.seals += 1
        bound = place(self.run, purpose, self.identity.name, recipient)
        sealed = seal(secret, public, bound)
        return SambaSealedKey(recipient, sealed, self.sign(sealed, purpose, recipient))

    def open(self, key: SealingKey, sealed: SambaSealedKey, maker: str, purpose: str) -> bytes:
        """A key that `maker` sealed to this party."""
        self.identity.verify(
            sealed.sealed,
            sealed.signature,
            sender=maker,
            run=self.run,
            purpose=purpose,
            recipient=self.identity.name,
        )
        self.opens += 1
        bound = place(self.run, purpose, maker, self.identity.name)
        return key.open(sealed.sealed, bound)

    def operations(self) -> dict[str, int]:
        return {
            "hpke_seals": self.seals,
            "hpke_opens": self.opens,
            "signatures": self.identity.signatures,
            "verifications": self.identity.verifications,
        }

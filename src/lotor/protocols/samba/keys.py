"""How the parties agree on a run's terms and keys through a Controller that must not read them.

Whatever a party hands out is signed over the run, its purpose and its recipient; keys are sealed
to the recipient besides.
"""

from dataclasses import dataclass

import msgspec

from lotor.core.errors import CryptoError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.crypto.paillier import Ciphertext, PublicKey
from lotor.crypto.sealing import SealingKey, seal
from lotor.crypto.signing import Identity, place
from lotor.policies import Policy, to_text
from lotor.protocols.samba.messages import Offer, SealedKey, Setup, SignedOffer, Terms

TERMS = "terms"
SEALING_KEY = "sealing key"
AES_KEY = "AES key"
OWNERS_KEYS = "owners' keys"

SELECTIONS = ("bits", "position")


def terms_bytes(terms: Terms) -> bytes:
    """What the customer signs."""
    return msgspec.msgpack.encode(terms)


def received_ciphertext(data: bytes, key: PublicKey, sender: str) -> Ciphertext:
    """A ciphertext under the customer's key, or an error that names who sent something else."""
    try:
        return Ciphertext.from_bytes(data, key)
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent no ciphertext under the customer's key: {error}"
        ) from None


@dataclass(slots=True)
class KeyRing:
    """A party's identity within one run, and the sealing and signing it does with it."""

    identity: Identity
    run: str
    seals: int = 0
    opens: int = 0

    def accept(self, setup: Setup, policy: Policy) -> Terms:
        """The customer's terms, if it signed them for this party and they name this policy."""
        terms = setup.terms
        self.identity.verify(
            terms_bytes(terms),
            setup.signature,
            sender="customer",
            run=self.run,
            purpose=TERMS,
            recipient=self.identity.name,
        )
        if terms.run != self.run or terms.policy != to_text(policy):
            raise ProtocolError(
                f"customer ordered {terms.policy} in run {terms.run}, but {self.identity.name} "
                f"was started for {to_text(policy)} in run {self.run}: start it again with the "
                "ordered policy"
            )
        if not 1 <= terms.k <= terms.budget <= MAXIMAL_BUDGET or terms.selection not in SELECTIONS:
            raise ProtocolError(
                f"customer ordered {terms.budget} pulls of {terms.k} arms with selection "
                f"{terms.selection!r}, which no run can do: order it again"
            )
        return terms

    def sign(self, data: bytes, purpose: str, recipient: str) -> bytes:
        return self.identity.sign(data, run=self.run, purpose=purpose, recipient=recipient)

    def offer(self, public: bytes, first_owner: str) -> Offer:
        return Offer(
            public,
            self.sign(public, SEALING_KEY, "comp"),
            self.sign(public, SEALING_KEY, first_owner),
        )

    def seal(self, secret: bytes, offer: SignedOffer, purpose: str) -> SealedKey:
        """Seal a key to an owner whose signed public key was relayed."""
        self.identity.verify(
            offer.public,
            offer.signature,
            sender=offer.owner,
            run=self.run,
            purpose=SEALING_KEY,
            recipient=self.identity.name,
        )
        self.seals += 1
        bound = place(self.run, purpose, self.identity.name, offer.owner)
        sealed = seal(secret, offer.public, bound)
        return SealedKey(offer.owner, sealed, self.sign(sealed, purpose, offer.owner))

    def open(self, key: SealingKey, sealed: SealedKey, maker: str, purpose: str) -> bytes:
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

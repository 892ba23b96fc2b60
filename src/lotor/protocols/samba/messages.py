"""How SAMBA's parties agree on a run, in every form: terms, and keys that Controller must not read.

These messages carry public data, and keys that are sealed (HPKE) to one recipient and signed by
their maker.
"""

from lotor.core.effects import Message

WIRE = "samba/3/"
"""A form that uses these messages must raise its own wire version when this one rises."""


class SambaOrder(Message, frozen=True, tag=WIRE + "order"):
    """Step 0, customer to Controller: the terms, signed for each owner and for Comp.

    Their bytes travel, since a signature is on bytes.
    """

    terms: bytes
    signatures: dict[str, bytes]


class SambaSetup(Message, frozen=True, tag=WIRE + "setup"):
    """Step 1, Controller to all others but the customer."""

    terms: bytes
    signature: bytes


class SambaOffer(Message, frozen=True, tag=WIRE + "offer"):
    """Owner to Controller: a public key that keys can be sealed to, signed for each sealer."""

    public: bytes
    signatures: dict[str, bytes]


class SignedOffer(Message, frozen=True, tag=WIRE + "signed-offer"):
    """One owner's public key with its signature for the party that will seal to it."""

    owner: str
    public: bytes
    signature: bytes


class Offers(Message, frozen=True, tag=WIRE + "offers"):
    """Controller to a party that makes keys: whom to seal them to."""

    offers: list[SignedOffer]


class SambaSealedKey(Message, frozen=True, tag=WIRE + "sealed-key"):
    """A key sealed to one owner and signed by its maker."""

    owner: str
    sealed: bytes
    signature: bytes


class SealedKeys(Message, frozen=True, tag=WIRE + "sealed-keys"):
    """A party that makes keys to Controller: a sealed key for each owner asked about."""

    keys: list[SambaSealedKey]

"""The sum of rewards in two shares: Comp's is sealed to the customer, and goes there through P."""

from lotor.core.effects import Message, Send, Steps
from lotor.crypto.sealing import SealingKey, seal
from lotor.crypto.signing import Identity, place
from lotor.protocols.linucb_ds.messages import WIRE
from lotor.protocols.linucb_ds.theta.shares import centred, from_bytes, to_bytes
from lotor.protocols.linucb_ds.theta.terms import SharingTerms

COMP_SHARE = "share of the total"


class SealedTotalShare(Message, frozen=True, tag=WIRE + "sealed-total-share"):
    """Comp to P to the customer: Comp's share, sealed to the customer."""

    sealed: bytes
    signature: bytes

    def __repr__(self) -> str:
        return "<SealedTotalShare>"


class TotalShares(Message, frozen=True, tag=WIRE + "total-shares"):
    """P to the customer: both shares of the sum, and the public numbers that give it its unit."""

    principal: bytes
    comp: SealedTotalShare
    longest: float
    k: int
    d: int

    def __repr__(self) -> str:
        return "<TotalShares>"


def send_sealed(terms: SharingTerms, identity: Identity, key: bytes, share: int) -> Steps[None]:
    """At Comp: its share, for the customer's eyes only."""
    data = to_bytes([share], terms.total_modulus)
    bound = place(terms.run, COMP_SHARE, identity.name, "customer")
    sealed = seal(data, key, bound)
    signature = identity.sign(sealed, run=terms.run, purpose=COMP_SHARE, recipient="customer")
    yield Send("principal", SealedTotalShare(sealed, signature))


def opened_total(
    terms: SharingTerms, identity: Identity, key: SealingKey, shares: TotalShares
) -> int:
    """At the customer: the sum of both shares, which may be negative."""
    comp, modulus = shares.comp, terms.total_modulus
    identity.verify(
        comp.sealed,
        comp.signature,
        sender="comp",
        run=terms.run,
        purpose=COMP_SHARE,
        recipient=identity.name,
    )
    opened = key.open(comp.sealed, place(terms.run, COMP_SHARE, "comp", identity.name))
    (theirs,) = from_bytes(opened, 1, modulus, "comp")
    (mine,) = from_bytes(shares.principal, 1, modulus, "principal")
    return centred(theirs + mine, modulus)

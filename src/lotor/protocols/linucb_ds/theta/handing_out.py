"""How the holders of theta's other share get its key through P, who must not read it."""

from typing import NamedTuple

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import CryptoError, InputError, ProtocolError
from lotor.crypto.prf import KEY_BYTES
from lotor.crypto.sealing import SealingKey, seal
from lotor.crypto.signing import Identity, place
from lotor.protocols.linucb_ds.messages import MOST_ARMS
from lotor.protocols.linucb_ds.theta.messages import HolderKey, ModelShare, ShareKey
from lotor.protocols.linucb_ds.theta.shares import SCORES, TOTAL, drawn_share, from_bytes
from lotor.protocols.linucb_ds.theta.terms import SharingTerms

SEALING_KEY, SHARE_KEY = "sealing key", "share key of theta"


class ThetaHolding(NamedTuple):
    """What a holder knows after the set-up: K, d, and the key of its shares."""

    k: int
    d: int
    key: bytes

    def __repr__(self) -> str:
        return f"<ThetaHolding of {self.k} arms in {self.d} dimensions>"

    def in_scores(self, terms: SharingTerms) -> list[int]:
        return drawn_share(self.key, SCORES, self.d, terms.score_modulus)

    def in_total(self, terms: SharingTerms) -> list[int]:
        return drawn_share(self.key, TOTAL, self.d, terms.total_modulus)


def hold(terms: SharingTerms, identity: Identity, sealing: SealingKey) -> Steps[ThetaHolding]:
    """At a holder: offer a key to seal to, and open what the owner sealed to it."""
    name, public = identity.name, sealing.public
    signature = identity.sign(public, run=terms.run, purpose=SEALING_KEY, recipient="owner")
    yield Send("principal", HolderKey(name, public, signature))
    message: ShareKey = yield Receive("principal", ShareKey)
    check_shape(terms, message.k, message.d)
    identity.verify(
        message.sealed,
        message.signature,
        sender="owner",
        run=terms.run,
        purpose=SHARE_KEY,
        recipient=name,
    )
    try:
        key = sealing.open(message.sealed, _bound(terms, name, message.k, message.d))
    except CryptoError as error:
        raise ProtocolError(f"owner sealed a key that {name} cannot use: {error}") from None
    if len(key) != KEY_BYTES:
        raise ProtocolError(f"owner sealed {len(key)} bytes instead of a key of {KEY_BYTES}")
    return ThetaHolding(message.k, message.d, key)


def seal_share_key(
    terms: SharingTerms, identity: Identity, offer: HolderKey, holding: ThetaHolding
) -> ShareKey:
    """At the owner: the key, for a holder whose offer is its own."""
    identity.verify(
        offer.public,
        offer.signature,
        sender=offer.holder,
        run=terms.run,
        purpose=SEALING_KEY,
        recipient=identity.name,
    )
    k, d, key = holding
    sealed = seal(key, offer.public, _bound(terms, offer.holder, k, d))
    signature = identity.sign(sealed, run=terms.run, purpose=SHARE_KEY, recipient=offer.holder)
    return ShareKey(offer.holder, k, d, sealed, signature)


def relay_model(terms: SharingTerms) -> Steps[ModelShare]:
    """At P: pass keys between the holders and the owner; the arms, and P's shares of theta."""
    for holder in terms.holders:
        offer: HolderKey = yield Receive(holder, HolderKey)
        yield Send("owner", offer)
    model: ModelShare = yield Receive("owner", ModelShare)
    in_scores(model, terms)
    in_total(model, terms)
    model.check(model.d)
    check_shape(terms, model.k, model.d)
    if [(key.holder, key.k, key.d) for key in model.keys] != [
        (holder, model.k, model.d) for holder in terms.holders
    ]:
        raise ProtocolError(
            f"owner did not seal its key to exactly {', '.join(terms.holders)}, for the arms of "
            "its model: it runs another version; start a new run"
        )
    for key in model.keys:
        yield Send(key.holder, key)
    return model


def check_shape(terms: SharingTerms, k: int, d: int) -> None:
    """Refuse a number of arms or dimensions that no run of this form can have."""
    try:
        if not (2 <= k < MOST_ARMS and 1 <= d < 1 << 20):
            raise InputError(f"no run has {k} arms in {d} dimensions")
        terms.check_size(k, d)
    except InputError as error:
        raise ProtocolError(f"owner has a model that does not fit this form: {error}") from None


def in_scores(model: ModelShare, terms: SharingTerms) -> list[int]:
    """P's share of theta in scores."""
    return from_bytes(model.theta, model.d, terms.score_modulus, "owner")


def in_total(model: ModelShare, terms: SharingTerms) -> list[int]:
    """P's share of theta in the total."""
    return from_bytes(model.total, model.d, terms.total_modulus, "owner")


def _bound(terms: SharingTerms, holder: str, k: int, d: int) -> bytes:
    return place(terms.run, SHARE_KEY, "owner", holder) + terms.digest(k, d)

"""Controller's part of the set-up, in every form: it passes on terms and keys."""

from collections.abc import Mapping, Sequence

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.protocols.samba.messages import (
    Offers,
    SambaOffer,
    SambaOrder,
    SambaSetup,
    SealedKeys,
    SignedOffer,
)
from lotor.protocols.samba.terms import SambaTerms


def hand_out_terms(order: SambaOrder, parties: Sequence[str]) -> Steps[None]:
    """Pass the customer's terms on to these parties, with its signature for each."""
    if set(order.signatures) != set(parties):
        raise ProtocolError(
            f"customer did not sign its order for exactly {', '.join(parties)}: order anew"
        )
    for party in parties:
        yield Send(party, SambaSetup(order.terms, order.signatures[party]))


def relay_keys(terms: SambaTerms, makers: Mapping[str, Sequence[str]]) -> Steps[None]:
    """Pass the owners' public keys on to those who make keys, and what these seal to the owners.

    `makers` says for whom each of them makes keys.
    """
    offers: dict[str, SambaOffer] = {}
    for owner in terms.owners:
        offers[owner] = yield Receive(owner, SambaOffer)
        if set(offers[owner].signatures) != set(makers):
            raise ProtocolError(
                f"{owner} did not sign its sealing key for exactly {', '.join(makers)}: it runs "
                "another version; start a new run"
            )
    for maker, owners in makers.items():
        signed = [
            SignedOffer(owner, offers[owner].public, offers[owner].signatures[maker])
            for owner in owners
        ]
        yield Send(maker, Offers(signed))
        answer: SealedKeys = yield Receive(maker, SealedKeys)
        if [key.owner for key in answer.keys] != list(owners):
            raise ProtocolError(f"{maker} did not seal keys to exactly {', '.join(owners)}")
        for key in answer.keys:
            yield Send(key.owner, key)

"""P's part of the set-up, in every form: it takes the customer's order and passes the terms on."""

from collections.abc import Sequence
from typing import TypeVar

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.terms import LinUCBTerms, accepted_terms

T = TypeVar("T", bound=LinUCBTerms)


def take_order(
    kind: type[T], run: str, announced: bytes | None, parties: Sequence[str]
) -> Steps[tuple[T, LinUCBOrder]]:
    """The terms that the customer orders, signed for exactly these parties."""
    order: LinUCBOrder = yield Receive("customer", LinUCBOrder)  # step 1
    terms = accepted_terms(kind, order.terms, announced, run)
    if set(order.signatures) != set(parties):
        raise ProtocolError(
            f"customer did not sign its order for exactly {', '.join(parties)}: order again"
        )
    return terms, order


def hand_out_terms(order: LinUCBOrder, parties: Sequence[str]) -> Steps[None]:
    """Pass the terms on, with the customer's signature for each party."""
    for party in parties:
        yield Send(party, LinUCBSetup(order.terms, order.signatures[party]))

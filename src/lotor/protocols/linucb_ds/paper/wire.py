"""What the messages carry, checked by the party that receives them."""

from struct import Struct

from lotor.core.errors import ProtocolError
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.paper.messages import LinUCBSetup
from lotor.protocols.linucb_ds.paper.terms import PURPOSE, LinUCBTerms, terms_from
from lotor.protocols.received import check_announced

COMP_KEY = "Comp's Paillier key"
_PLACE = Struct(">Q")
_POSITION = Struct(">I")


def place_of(t: int) -> bytes:
    """After t pulls."""
    return _PLACE.pack(t)


def position_of(winner: int) -> bytes:
    return _POSITION.pack(winner)


def position_from(data: bytes, k: int, t: int) -> int:
    """The position that Comp names, if there is one."""
    position = int(_POSITION.unpack(data)[0]) if len(data) == _POSITION.size else k
    if position >= k:
        raise ProtocolError(f"comp named a position in round {t} that none of {k} arms has")
    return position


def accept(setup: LinUCBSetup, identity: Identity, run: str, order: bytes | None) -> LinUCBTerms:
    """The customer's terms, if it signed them for this party and they are those announced."""
    identity.verify(
        setup.terms,
        setup.signature,
        sender="customer",
        run=run,
        purpose=PURPOSE,
        recipient=identity.name,
    )
    check_announced(setup.terms, order, run)
    terms = terms_from(setup.terms)
    terms.check(run)
    return terms

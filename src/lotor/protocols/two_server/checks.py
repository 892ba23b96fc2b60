"""What another party sent, checked before it is used; every error names the sender."""

from struct import Struct

import numpy as np

from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import Words
from lotor.protocols.two_server.messages import Agreed, PlacedMessage, SentKey

KEY_BYTES = 32

# step, attempt, circuit, round
_PLACE = Struct(">QHHH")

# A repeated step has the same inputs as before; with other inputs it would need other pads.
ATTEMPT = 0


def place_of(t: int, circuit: int = 0, round_number: int = 0) -> bytes:
    return _PLACE.pack(t, ATTEMPT, circuit, round_number)


def check_place(message: PlacedMessage, place: bytes, sender: str) -> None:
    """Refuse a message of another step, attempt, circuit or round."""
    if message.place != place:
        t = _PLACE.unpack(place)[0]
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} for another place than this party has reached "
            f"in step {t}: {sender} is out of step or runs another version; start a new run"
        )


def check_size(shares: bytes, size: int, sender: str, t: int) -> None:
    if len(shares) != size:
        raise ProtocolError(
            f"{sender} sent {len(shares)} bytes of shares in step {t}, but {size} are due: it does "
            "not compute what the terms say, or its message was cut; start a new run"
        )


def check_agreed(message: Agreed | SentKey, digest: bytes, sender: str) -> None:
    """Refuse a party that keeps other terms, before it is given anything."""
    if message.digest != digest:
        raise ProtocolError(
            f"{sender} keeps other terms than this party: the party that ordered the run told them "
            "different things; start a new run"
        )


def key_from(message: SentKey, digest: bytes, sender: str) -> bytes:
    check_agreed(message, digest, sender)
    if len(message.key) != KEY_BYTES:
        raise ProtocolError(
            f"{sender} sent a key of {len(message.key)} bytes, not {KEY_BYTES}: its message was "
            "altered, or it runs another version; start a new run"
        )
    return message.key


def words_from(shares: bytes, count: int, sender: str, t: int) -> Words:
    check_size(shares, 8 * count, sender, t)
    return np.frombuffer(shares, "<u8").astype(np.uint64)

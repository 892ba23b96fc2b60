"""What the messages carry, checked by who receives them."""

from struct import Struct

import numpy as np

from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import Bits, PadCipher, Pads, Words
from lotor.crypto.sharing.pads import aligned
from lotor.protocols.ppcb.messages import (
    Acted,
    Agreed,
    BlindKey,
    Corrections,
    Due,
    Features,
    InputKey,
    More,
    Next,
    OneHot,
    Opened,
    PadKey,
    Reward,
)

KEY_BYTES = 32
# step, attempt, circuit, round
_PLACE = Struct(">QHHH")

# The circuits of a step, each with pads of its own.
DECIDE, LEARN = 0, 1

# Inputs are always what they were: another attempt would need other pads.
ATTEMPT = 0


def place_of(t: int, circuit: int = 0, round_number: int = 0) -> bytes:
    return _PLACE.pack(t, ATTEMPT, circuit, round_number)


Placed = Acted | Corrections | Due | Features | More | Next | OneHot | Opened | Reward


def check_place(message: Placed, place: bytes, sender: str) -> None:
    """Refuse what belongs to another step, circuit or round."""
    if message.place != place:
        t = _PLACE.unpack(place)[0]
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of another place than step {t} is at: it is "
            "out of step, or runs another version"
        )


def check_size(shares: bytes, size: int, sender: str, t: int) -> None:
    if len(shares) != size:
        raise ProtocolError(
            f"{sender} sent {len(shares)} bytes of shares in step {t} where {size} are due: it "
            "shares something else than was agreed"
        )


def check_agreed(
    message: Agreed | PadKey | BlindKey | InputKey, digest: bytes, sender: str
) -> None:
    """Refuse a party that keeps other terms, before it is given anything."""
    if message.digest != digest:
        raise ProtocolError(
            f"{sender} keeps other terms than this party: the receiver told them different things; "
            "start a new run"
        )


def key_from(message: PadKey | BlindKey | InputKey, digest: bytes, sender: str) -> bytes:
    check_agreed(message, digest, sender)
    if len(message.key) != KEY_BYTES:
        raise ProtocolError(f"{sender} sent a key of {len(message.key)} bytes, not {KEY_BYTES}")
    return message.key


def input_mask(cipher: PadCipher, t: int, count: int) -> Words:
    """The first server's share of an input of step t, known to whoever brings it as well."""
    return Pads(cipher, 8 * count, t=t, attempt=ATTEMPT, circuit=0).words((count,))


def blind(cipher: PadCipher, t: int, count: int) -> Bits:
    """The bits that both servers put on their shares of a one-hot vector."""
    pads = Pads(cipher, aligned(count), t=t, attempt=ATTEMPT, circuit=0)
    bits: Bits = pads.bits((count,), np.dtype(np.uint8)) & np.uint8(1)
    return bits


def words_from(shares: bytes, count: int, sender: str, t: int) -> Words:
    check_size(shares, 8 * count, sender, t)
    return np.frombuffer(shares, "<u8").astype(np.uint64)

"""Widths and bindings of what the core of the paper's form exchanges."""

from typing import Protocol as Interface

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto import aead
from lotor.crypto.aead import Aead
from lotor.protocols.samba.paper import mask
from lotor.protocols.samba.wire import place_name

BIT_WIDTH = 1
POSITION_WIDTH = 4

SEALED_SCORE = mask.WIDTH + aead.OVERHEAD
SEALED_BIT = BIT_WIDTH + aead.OVERHEAD
SEALED_POSITION = POSITION_WIDTH + aead.OVERHEAD


class Placed(Interface):
    """A message of the core."""

    @property
    def place(self) -> bytes: ...

    @property
    def sealed(self) -> bytes: ...


class Bindings:
    """What each ciphertext is bound to: run, direction, round, iteration.

    Never an owner: Comp would read the permutation off it.
    """

    def __init__(self, run: str) -> None:
        self._to_comp = b"lotor samba/3 to comp " + run.encode()
        self._to_owner = b"lotor samba/3 to owner " + run.encode()

    def to_comp(self, place: bytes) -> bytes:
        return self._to_comp + place

    def to_owner(self, place: bytes) -> bytes:
        return self._to_owner + place


def expect(message: Placed, place: bytes, width: int, sender: str) -> None:
    """Refuse a message of another round or width."""
    if message.place != place or len(message.sealed) != width:
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of {len(message.sealed)} bytes for "
            f"{place_name(message.place)}, but {width} bytes for {place_name(place)} are due: "
            f"{sender} is out of step or runs another version"
        )


def opened(
    cipher: Aead, message: Placed, place: bytes, shape: tuple[int, int], bound: bytes, sender: str
) -> list[bytes]:
    """The plaintexts of a message: `shape` is how many, and how wide each is."""
    count, width = shape
    expect(message, place, count * (width + aead.OVERHEAD), sender)
    try:
        return cipher.open(message.sealed, width, bound)
    except IntegrityError as error:
        raise IntegrityError(
            f"{type(message).__name__} from {sender} in {place_name(place)}: {error}"
        ) from None

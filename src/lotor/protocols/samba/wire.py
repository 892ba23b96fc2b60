"""Widths, places and bindings of what the core of SAMBA exchanges."""

import struct
from typing import Protocol as Interface

from lotor.core.errors import ProtocolError
from lotor.crypto import aead
from lotor.protocols.samba import mask

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


def place_of(t: int, l: int) -> bytes:
    """Round t, iteration l."""
    return struct.pack(">QB", t, l)


class Bindings:
    """What each ciphertext is bound to: run, direction, round, iteration.

    Never an owner: Comp would read the permutation off it.
    """

    def __init__(self, run: str) -> None:
        self._to_comp = b"lotor samba/1 to comp " + run.encode()
        self._to_owner = b"lotor samba/1 to owner " + run.encode()

    def to_comp(self, place: bytes) -> bytes:
        return self._to_comp + place

    def to_owner(self, place: bytes) -> bytes:
        return self._to_owner + place


def expect(message: Placed, place: bytes, width: int, sender: str) -> None:
    """Refuse a message of another round or width."""
    if message.place != place or len(message.sealed) != width:
        t, l = struct.unpack(">QB", place)
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of {len(message.sealed)} bytes for place "
            f"{message.place.hex()}, but round {t}, iteration {l} needs {width} bytes for "
            f"{place.hex()}: {sender} is out of step or runs another version"
        )

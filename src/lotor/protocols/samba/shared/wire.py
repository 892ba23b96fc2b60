"""Widths of what the shared form exchanges, and checks of what arrives."""

from struct import Struct

import numpy as np

from lotor.core.draws import Words
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import OutputCodes, OutputSigns
from lotor.crypto.ot import LABEL_BYTES
from lotor.crypto.prf import KEY_BYTES
from lotor.protocols.samba.shared.messages import (
    Columns,
    CoveredScores,
    GarbledTables,
    InputLabels,
    ResultBits,
    ResultShares,
)
from lotor.protocols.samba.wire import place_name

COMP_BITS = Struct("<BQ")
"""Of each arm: Comp's colour and tag, under the owner's pad."""
CONTROLLER_BITS = Struct("<BQQ")
"""Of each arm: Controller's colour, and the tags of bits 0 and 1."""
SCORE_BYTES = 8
INPUT_BYTES = SCORE_BITS * LABEL_BYTES
"""The labels of one arm's score."""

_COMP_ROWS = np.dtype([("colour", "u1"), ("tag", "<u8")])
_CONTROLLER_ROWS = np.dtype([("colour", "u1"), ("tags", "<u8", (2,))])

_BATCH = Struct(">QH")
PlacedMessage = Columns | InputLabels | ResultBits | ResultShares | CoveredScores | GarbledTables


def batch_place(number: int, part: int = 0) -> bytes:
    """A part of what belongs to a batch."""
    return _BATCH.pack(number, part)


def expect(message: PlacedMessage, place: bytes, sender: str, **sizes: int) -> None:
    """Refuse a message of another place, or whose fields have other sizes."""
    for field, size in sizes.items():
        found = len(getattr(message, field))
        if message.place != place or found != size:
            raise ProtocolError(
                f"{sender} sent {type(message).__name__} of {found} bytes for "
                f"{_name(message.place)}, but {size} bytes for {_name(place)} are due: {sender} is "
                "out of step or runs another version; start a new run"
            )


def key_from(key: bytes, sender: str) -> bytes:
    """A key of the right length."""
    if len(key) != KEY_BYTES:
        raise ProtocolError(
            f"{sender} sent a key of {len(key)} bytes, not {KEY_BYTES}: its message was altered, "
            "or it runs another version; start a new run"
        )
    return key


def comp_bits(signs: OutputSigns, colours: Words, tags: Words) -> bytes:
    """COMP_BITS of all arms, of one turn, under these pads."""
    rows = np.empty(len(colours), _COMP_ROWS)
    rows["colour"] = signs.colours[:, 0] ^ colours.astype(np.uint8)
    rows["tag"] = signs.tags[:, 0] ^ tags
    return rows.tobytes()


def controller_bits(codes: OutputCodes, turn: int) -> bytes:
    """CONTROLLER_BITS of all arms, of one turn of a batch."""
    rows = np.empty(len(codes.colours), _CONTROLLER_ROWS)
    rows["colour"] = codes.colours[:, turn]
    rows["tags"] = codes.tags[:, :, turn].T
    return rows.tobytes()


def _name(place: bytes) -> str:
    if len(place) != _BATCH.size:
        return place_name(place)
    number, part = _BATCH.unpack(place)
    return f"batch {number}, part {part}"

"""Widths of what the shared form exchanges."""

from struct import Struct

import numpy as np

from lotor.core.draws import Words
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import OutputCodes, OutputSigns
from lotor.crypto.ot import LABEL_BYTES

COMP_BITS = Struct("<BQ")
"""Of each arm: Comp's colour and tag, under the owner's pad."""
CONTROLLER_BITS = Struct("<BQQ")
"""Of each arm: Controller's colour, and the tags of bits 0 and 1."""
SCORE_BYTES = 8
INPUT_BYTES = SCORE_BITS * LABEL_BYTES
"""The labels of one arm's score."""

_COMP_ROWS = np.dtype([("colour", "u1"), ("tag", "<u8")])
_CONTROLLER_ROWS = np.dtype([("colour", "u1"), ("tags", "<u8", (2,))])


def comp_bits(signs: OutputSigns, colours: Words, tags: Words) -> bytes:
    """COMP_BITS of all arms, of one turn, under these pads."""
    rows = np.empty(len(colours), _COMP_ROWS)
    rows["colour"] = signs.colours[:, 0] ^ colours.astype(np.uint8)
    rows["tag"] = signs.tags[:, 0] ^ tags
    return rows.tobytes()


def shown_bits(signs: OutputSigns) -> bytes:
    """The same under no pads, for a message that is sealed."""
    nothing = np.zeros(len(signs.colours), np.uint64)
    return comp_bits(signs, nothing, nothing)


def controller_bits(codes: OutputCodes, turn: int) -> bytes:
    """CONTROLLER_BITS of all arms, of one turn of a batch."""
    rows = np.empty(len(codes.colours), _CONTROLLER_ROWS)
    rows["colour"] = codes.colours[:, turn]
    rows["tags"] = codes.tags[:, :, turn].T
    return rows.tobytes()

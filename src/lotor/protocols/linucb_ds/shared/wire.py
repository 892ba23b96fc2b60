"""Places and widths of what the shared form exchanges."""

from struct import Struct

WORD_BYTES = 8
_PLACE = Struct(">Q")


def round_place(t: int) -> bytes:
    """After t pulls."""
    return _PLACE.pack(t)


def row_bytes(k: int, d: int) -> int:
    """How long u - U of all arms is."""
    return WORD_BYTES * k * d


def share_bytes(k: int) -> int:
    """How long the shares of all scores are."""
    return WORD_BYTES * k

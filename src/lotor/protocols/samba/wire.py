"""Places of what the core of SAMBA exchanges, in every form."""

import struct

_PLACE = struct.Struct(">QB")


def place_of(t: int, l: int) -> bytes:
    """Round t, iteration l."""
    return _PLACE.pack(t, l)


def place_name(place: bytes) -> str:
    """For error messages."""
    if len(place) != _PLACE.size:
        return "no place at all"
    t, l = _PLACE.unpack(place)
    return f"round {t}, iteration {l}"

"""Places of what the core of SAMBA exchanges, in every form."""

import struct

_PLACE = struct.Struct(">QB")


def place_of(t: int, l: int) -> bytes:
    """Round t, iteration l."""
    return _PLACE.pack(t, l)


def place_from(place: bytes) -> tuple[int, int] | None:
    """(t, l); None for bytes that are no place."""
    return _PLACE.unpack(place) if len(place) == _PLACE.size else None


def place_name(place: bytes) -> str:
    """For error messages."""
    found = place_from(place)
    return "no place at all" if found is None else f"round {found[0]}, iteration {found[1]}"

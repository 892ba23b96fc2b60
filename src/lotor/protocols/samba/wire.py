"""Places of what the core of SAMBA exchanges, in every form."""

import struct

_PLACE = struct.Struct(">QB")
_ERA_SHIFT = 48


def place_of(t: int, l: int, era: int = 0) -> bytes:
    """Round t, iteration l; `era` counts how often owners have left before (see shared/era.py)."""
    return _PLACE.pack(era << _ERA_SHIFT | t, l)


def place_from(place: bytes) -> tuple[int, int] | None:
    """(t, l); None for bytes that are no place."""
    if len(place) != _PLACE.size:
        return None
    t, l = _PLACE.unpack(place)
    return t & ((1 << _ERA_SHIFT) - 1), l


def place_name(place: bytes) -> str:
    """For error messages."""
    found = place_from(place)
    return "no place at all" if found is None else f"round {found[0]}, iteration {found[1]}"

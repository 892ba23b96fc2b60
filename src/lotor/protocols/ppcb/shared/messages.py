"""The wire of PPCB's shared form: what parties bring and hear is in ppcb/messages.py, what the two
servers exchange in dealerless/messages.py, and what the actor reads in garbled/messages.py."""

from struct import Struct

WIRE = "ppcb-shared/1/"

_PLACE = Struct(">Q")


def step_place(t: int) -> bytes:
    """Where messages of a step belong."""
    return _PLACE.pack(t)

"""What the policies for changing arms share: how wide their bounds are, and where they end."""

from lotor.core.errors import InputError
from lotor.core.fixed_point import to_float

FORGOTTEN = 2.0**20
"""What an arm of which nothing is remembered scores: more than any other, within all scores."""

_WIDEST = 2.0**20


def checked_width(xi: object) -> float:
    """The factor xi of the bounds of Garivier and Moulines."""
    width = to_float("xi", xi)
    if not 0.0 < width <= _WIDEST:
        raise InputError(f"xi is {xi!r}: give a number above 0 and of at most 2^20, such as 0.5")
    return width

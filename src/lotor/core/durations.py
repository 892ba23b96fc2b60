"""Lengths of time as people write them."""

import re
from typing import Final

from lotor.core.errors import InputError

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_TEXT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
LONGEST: Final = 100 * 366 * _UNITS["d"]


def to_seconds(name: str, text: str) -> float:
    """A length of time in seconds.

    >>> to_seconds("settle", "90d"), to_seconds("every", "10m"), to_seconds("every", "1.5s")
    (7776000.0, 600.0, 1.5)
    """
    found = _TEXT.fullmatch(text.strip())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0.0 < seconds <= LONGEST:
        raise InputError(
            f"{name} is {text!r}: give a length of time such as 30s, 10m, 12h, 90d or 2w"
        )
    return seconds


def in_words(seconds: float) -> str:
    """About how long, in a unit of which there are not too many.

    >>> in_words(0.4), in_words(90), in_words(7_000), in_words(86_400 * 3.2)
    ('0 s', '1 min', '1 h', '3 d')
    """
    for unit, size, most in (("s", 1, 60), ("min", 60, 60), ("h", 3600, 48)):
        if seconds < size * most:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 86400)} d"

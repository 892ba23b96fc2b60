"""When the rounds of a run begin: as soon as they can, at a pace, or on demand."""

import re
from math import isfinite

import msgspec

from lotor.core.errors import InputError

LEAST_SECONDS, MOST_SECONDS = 0.01, 366 * 86400.0
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SHOWN = {"d": "d", "h": "h", "m": "min", "s": "s"}
_INTERVAL = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|m|min|h|d)")


class Pace(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """At most one round `every` so many seconds, or one `on_demand`; with neither, no waiting.

    All parties of a run agree on it: it is part of the announcement.
    """

    every: float = 0.0
    on_demand: bool = False

    @property
    def free(self) -> bool:
        return not self.every and not self.on_demand

    def __str__(self) -> str:
        if self.on_demand:
            return "on demand: each round waits for `lotor runs next`"
        return f"a round every {interval_text(self.every)}" if self.every else ""

    def check(self) -> None:
        """Refuse a pace that no run can keep."""
        if self.every and self.on_demand:
            raise InputError("rounds begin at a pace or on demand: give `every` or `on_demand`")
        kept = isfinite(self.every) and LEAST_SECONDS <= self.every <= MOST_SECONDS
        if self.every and not kept:
            raise InputError(
                f"a round every {self.every:g} s cannot be kept: give `every` from "
                f"{LEAST_SECONDS:g} s to {MOST_SECONDS / 86400:g} days"
            )


def read_interval(text: str) -> float:
    """The seconds that a text means.

    >>> read_interval("90s"), read_interval("10m"), read_interval("1.5h"), read_interval("2 d")
    (90.0, 600.0, 5400.0, 172800.0)
    """
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{text!r} is no interval: give a number with its unit, such as 30s, 10m, 2h or 1d"
        )
    return float(found[1]) * _UNITS[found[2][0]]


def interval_text(seconds: float) -> str:
    """An interval for people, in the largest unit of which it is a whole number.

    >>> interval_text(600.0), interval_text(90.0), interval_text(0.5), interval_text(172800.0)
    ('10 min', '90 s', '0.5 s', '2 d')
    """
    for unit, shown in _SHOWN.items():
        if seconds % _UNITS[unit] == 0:
            return f"{seconds / _UNITS[unit]:g} {shown}"
    return f"{seconds:g} s"

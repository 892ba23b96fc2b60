"""When the rounds of a run begin: as soon as they can, at a pace, or on demand."""

from math import isfinite

import msgspec

from lotor.core.errors import InputError

LEAST_SECONDS, MOST_SECONDS = 0.01, 366 * 86400.0
_UNITS = {"d": 86400.0, "h": 3600.0, "min": 60.0}


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


def interval_text(seconds: float) -> str:
    """An interval for people, in the largest unit of which it is a whole number.

    >>> interval_text(600.0), interval_text(90.0), interval_text(0.5), interval_text(172800.0)
    ('10 min', '90 s', '0.5 s', '2 d')
    """
    for unit, size in _UNITS.items():
        if seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"

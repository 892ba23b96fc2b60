"""Who of a run's peers is not there, and since when."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Absence:
    """Since when somebody is away: for people, and by a clock that nobody sets."""

    since: datetime
    start: float

    @classmethod
    def for_seconds(cls, seconds: float) -> "Absence":
        start = time.monotonic() - seconds
        return cls(datetime.now(UTC) - timedelta(seconds=seconds), start)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start


class Attendance:
    """`names` are the peers' by seat; a peer is present only with the key that it began with."""

    def __init__(
        self,
        names: Mapping[str, str],
        present: Callable[[str], bool],
        away: Callable[[str], float],
    ) -> None:
        self._names = names
        self._present = present
        self._away = away
        self._absent: dict[str, Absence] = {}

    def missing(self) -> Mapping[str, Absence]:
        """The seats that are empty now."""
        for seat, name in self._names.items():
            if self._present(seat):
                self._absent.pop(seat, None)
            elif seat not in self._absent:
                self._absent[seat] = Absence.for_seconds(self._away(name))
        return self._absent

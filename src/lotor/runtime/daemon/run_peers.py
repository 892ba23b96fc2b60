"""The peers of one run: who is connected, and who has been away for how long."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.connections import Connections


@dataclass(slots=True)
class Absence:
    """Since when a peer is away: for people, and by a clock that nobody sets."""

    since: float
    start: float
    overdue: bool = False

    @classmethod
    def for_seconds(cls, seconds: float) -> "Absence":
        return cls(time.time() - seconds, time.monotonic() - seconds)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start


class RunPeers:
    """`names` are the peers' by seat; a peer is present only with the key that it began with."""

    def __init__(self, agreement: RunAgreement, connections: Connections) -> None:
        self.names = agreement.peers
        self._members = agreement.members
        self._connections = connections
        self._seats = {name: seat for seat, name in self.names.items()}
        self._absent: dict[str, Absence] = {}
        self._gone: set[str] = set()

    def seat_of(self, name: str) -> str | None:
        """The seat of a peer that this party talks to, by the name in its certificate."""
        return self._seats.get(name)

    def present(self) -> dict[str, str]:
        """The peers that are connected, by seat."""
        return {seat: name for seat, name in self._expected() if self._is_present(seat)}

    def leave(self, seats: Collection[str]) -> None:
        """These have left the run: they are neither present nor missing any more."""
        self._gone.update(seats)
        for seat in seats:
            self._absent.pop(seat, None)

    def is_gone(self, seat: str | None) -> bool:
        """Whether a seat has left the run for good."""
        return seat in self._gone

    def _expected(self) -> list[tuple[str, str]]:
        return [(seat, name) for seat, name in self.names.items() if seat not in self._gone]

    def missing(self) -> Mapping[str, Absence]:
        """The peers that are not connected, by seat."""
        for seat, name in self._expected():
            if self._is_present(seat):
                self._absent.pop(seat, None)
            elif seat not in self._absent:
                self._absent[seat] = Absence.for_seconds(self._connections.seconds_away(name))
        return self._absent

    def recall(self, missing: Mapping[str, float]) -> None:
        """Whom this party missed before it was restarted, and since when."""
        for seat, since in missing.items():
            if seat in self.names and seat not in self._gone:
                seconds = max(time.time() - since, 0.0)
                self._absent[seat] = Absence(since, time.monotonic() - seconds)

    def newly_overdue(self, wait: float) -> list[str]:
        """The seats that have just been away for longer than `wait` seconds, each once."""
        late = [
            (seat, absence)
            for seat, absence in self.missing().items()
            if absence.seconds > wait and not absence.overdue
        ]
        for _, absence in late:
            absence.overdue = True
        return [seat for seat, _ in late]

    def _is_present(self, seat: str) -> bool:
        return self._connections.is_present(self._members[seat])

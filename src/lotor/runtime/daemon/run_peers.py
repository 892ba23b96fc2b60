"""The peers of one run: who is connected, and who has been away for how long."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.connections import Connections


@dataclass(frozen=True, slots=True)
class Absence:
    """Since when a peer is away: for people, and by a clock that nobody sets."""

    since: datetime
    start: float

    @classmethod
    def for_seconds(cls, seconds: float) -> "Absence":
        start = time.monotonic() - seconds
        return cls(datetime.now(UTC) - timedelta(seconds=seconds), start)

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

    def seat_of(self, name: str) -> str | None:
        """The seat of a peer that this party talks to, by the name in its certificate."""
        return self._seats.get(name)

    def present(self) -> dict[str, str]:
        """The peers that are connected, by seat."""
        return {seat: name for seat, name in self.names.items() if self._is_present(seat)}

    def missing(self) -> Mapping[str, Absence]:
        """The peers that are not connected, by seat."""
        for seat, name in self.names.items():
            if self._is_present(seat):
                self._absent.pop(seat, None)
            elif seat not in self._absent:
                self._absent[seat] = Absence.for_seconds(self._connections.seconds_away(name))
        return self._absent

    def _is_present(self, seat: str) -> bool:
        return self._connections.is_present(self._members[seat])

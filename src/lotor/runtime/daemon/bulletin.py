"""What the parties of a run say about it: everybody's last word, passed on to whoever is there."""

from collections.abc import Callable, Mapping

from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import Table
from lotor.runtime.daemon.frames import Status


class Bulletin:
    """One party's copy. `there` gives the peers that are connected: seat and name."""

    def __init__(
        self,
        table: Table,
        send: Callable[[str, Status], None],
        there: Callable[[], Mapping[str, str]],
        last_said: float = 0.0,
    ) -> None:
        self._last_said = last_said
        self._table = table
        self._send = send
        self._there = there
        self.known: dict[str, Status] = {}

    @property
    def own(self) -> Status | None:
        return self.known.get(self._table.seat)

    def say(self, state: str, text: str, t: int, *, only: str | None = None) -> None:
        """This party's own word, to all peers or to one seat."""
        own = self.own
        before = own.time if own is not None else self._last_said
        status = statuses.make(self._table.identity, self._table.run, state, text, t, before)
        self.known[status.seat] = status
        for seat, name in self._there().items():
            if only in (None, seat):
                self._send(name, status)

    def repeat(self, name: str) -> None:
        """All that is known, for a peer that has just come."""
        for status in self.known.values():
            self._send(name, status)

    def heard(self, status: Status, sender: str) -> bool:
        """Keep a word of another party and pass it on; False when it is nothing new.

        Refuses, before anything else, what that party has not signed.
        """
        statuses.check(self._table.identity, status)
        known = self.known.get(status.seat)
        if status.seat == self._table.seat or (known is not None and known.time >= status.time):
            return False
        self.known[status.seat] = status
        if known is not None and (known.state, known.text) == (status.state, status.text):
            return False
        for name in self._there().values():
            if name != sender:
                self._send(name, status)
        return True

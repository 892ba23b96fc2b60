"""Seals what a party keeps after a run: the journal alone, or a copy of it, shows nothing of it."""

from lotor.core.errors import IntegrityError, JournalError
from lotor.crypto.aead import OVERHEAD, Aead
from lotor.crypto.certificates import PartyKey

_FORMAT = b"lotor/kept/1 "


class StateSeal:
    """AES-256-GCM under a key that follows from the party's private key, another one for each run.

    Sealed bytes belong to one run and one party.
    """

    def __init__(self, key: PartyKey, party: str) -> None:
        self._key = key
        self._party = party

    def __repr__(self) -> str:
        return f"<StateSeal of {self._party}>"

    def seal(self, run: str, state: bytes) -> bytes:
        return _FORMAT + self._aead(run).seal([state], self._bound(run))

    def open(self, run: str, sealed: bytes) -> bytes:
        if not sealed.startswith(_FORMAT):
            raise JournalError(
                f"what {self._party} has kept of run {run} was sealed by another version of lotor: "
                "continue it with that version, or start a new run"
            )
        data = sealed[len(_FORMAT) :]
        try:
            (state,) = self._aead(run).open(data, len(data) - OVERHEAD, self._bound(run))
        except IntegrityError:
            raise JournalError(
                f"what {self._party} has kept of run {run} does not open: it was sealed under "
                "another key than the one in the kit, or the journal is damaged; put back the kit "
                "that the run was done with, or start a new run"
            ) from None
        return state

    def _aead(self, run: str) -> Aead:
        return Aead(self._key.derived(f"kept state of run {run}"))

    def _bound(self, run: str) -> bytes:
        return f"{run} {self._party}".encode()

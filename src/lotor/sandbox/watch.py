"""How the parties of a federation on loopback stand, by their own logs and journals."""

import json
from dataclasses import dataclass, field

from lotor.sandbox.federation import Federation
from lotor.sandbox.journals import Journals

STARTING, CONNECTED, AWAY, FINISHED = "starting", "connected", "away", "finished"


@dataclass(slots=True)
class _Reader:
    """The part of a log that one process of a party wrote."""

    starts: int = 0
    offset: int = 0
    peers: set[str] = field(default_factory=set)


class Watch:
    """Follows the logs; a party is connected when it has a peer."""

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._journals = Journals(federation)
        self._readers = {name: _Reader() for name in federation.kits}

    def states(self, run: str | None) -> dict[str, str]:
        return {name: self._state(name, run) for name in self._federation.kits}

    def _state(self, name: str, run: str | None) -> str:
        standing = self._journals.standing(name, run) if run is not None else None
        if standing is not None and standing.finished:
            return FINISHED
        if not self._federation.running(name):
            return AWAY
        return CONNECTED if self._peers(name) else STARTING

    def _peers(self, name: str) -> set[str]:
        reader, starts = self._readers[name], self._federation.spent[name].starts
        path = self._federation.log_file(name)
        if reader.starts != starts:
            reader.starts = starts
            reader.peers.clear()
        with path.open("rb") as log:
            log.seek(reader.offset)
            for line in log:
                if not line.endswith(b"\n"):
                    break
                reader.offset += len(line)
                _note(reader.peers, line)
        return reader.peers


def _note(peers: set[str], line: bytes) -> None:
    """What a line of a log says about who is there."""
    try:
        entry = json.loads(line)
        event, peer = entry["event"], str(entry.get("peer", ""))
    except (ValueError, KeyError, TypeError):
        return
    if event == "serving":
        peers.clear()
    elif event == "connected":
        peers.add(peer)
    elif event == "gone":
        peers.discard(peer)

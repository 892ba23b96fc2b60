"""Moves bytes between named parties of one process."""

from collections import defaultdict, deque


class MemoryTransport:
    """A first-in-first-out queue for each ordered pair of parties."""

    def __init__(self) -> None:
        self._links: defaultdict[tuple[str, str], deque[bytes]] = defaultdict(deque)

    def send(self, sender: str, to: str, payload: bytes) -> None:
        self._links[sender, to].append(payload)

    def receive(self, receiver: str, sender: str) -> bytes | None:
        link = self._links[sender, receiver]
        return link.popleft() if link else None

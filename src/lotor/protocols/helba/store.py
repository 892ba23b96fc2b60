"""Where a party keeps its large keys, so that its snapshots name them and do not carry them."""

from hashlib import sha256
from typing import Protocol

from lotor.core.errors import JournalError


class Store(Protocol):
    """Private to its party. What is kept is on the disk before `keep` returns, where there is one.

    Evaluation keys take more than 100 MB, and a snapshot is written at each boundary.
    """

    def keep(self, data: bytes) -> str:
        """Keep these bytes, and say by which name they are found again."""
        ...

    def fetch(self, name: str) -> bytes:
        """What was kept under a name; it is refused if it was altered or is gone."""
        ...


class MemoryStore:
    """For parties within one process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore of {len(self._kept)} keys>"

    def keep(self, data: bytes) -> str:
        name = content_name(data)
        self._kept[name] = data
        return name

    def fetch(self, name: str) -> bytes:
        if name not in self._kept:
            raise JournalError(
                f"key {name} is not in this store: the snapshot belongs to another party or run; "
                "restore the party with its own store"
            )
        return self._kept[name]


def content_name(data: bytes) -> str:
    """A name that no other bytes have."""
    return sha256(data).hexdigest()

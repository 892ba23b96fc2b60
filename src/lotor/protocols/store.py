"""Where a party keeps what is too large for a snapshot: the snapshot names it."""

from collections.abc import Collection
from hashlib import sha256
from typing import Protocol

from lotor.core.errors import JournalError


class Store(Protocol):
    """Private to its party. What is kept is on the disk before `keep` returns, where there is one.

    Keep the bytes before a snapshot that names them is written down. They may be dropped once a
    later snapshot without that name is written down.
    """

    def keep(self, data: bytes) -> str:
        """Keep these bytes, and say by which name they are found again."""
        ...

    def fetch(self, name: str) -> bytes:
        """The bytes kept under a name; raises if they were altered or are gone."""
        ...

    def retain(self, names: Collection[str]) -> None:
        """Let go of everything but these."""
        ...


class MemoryStore:
    """A store in memory, for parties within one process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore of {len(self._kept)} items>"

    def keep(self, data: bytes) -> str:
        name = content_name(data)
        self._kept[name] = data
        return name

    def fetch(self, name: str) -> bytes:
        if name not in self._kept:
            raise JournalError(
                f"{name} is not in this store: the snapshot belongs to another party or run; "
                "restore the party with its own store"
            )
        return self._kept[name]

    def retain(self, names: Collection[str]) -> None:
        self._kept = {name: data for name, data in self._kept.items() if name in names}


def content_name(data: bytes) -> str:
    """A name that no other bytes have."""
    return sha256(data).hexdigest()

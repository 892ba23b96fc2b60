"""Connections of which nobody knows whose they are: how many there may be, and which has to go."""

import os
from collections.abc import Hashable, Iterator, Sequence
from socket import AF_INET6, inet_pton
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
SHARES = 2  # one source may have this part of all places: half of them
PREFIX = 8  # bytes of an IPv6 address that belong to the network; its owner chooses the rest


def source_of(host: str) -> str:
    """What an address has in common with all others that the same stranger could use at will."""
    if ":" not in host:
        return host
    return inet_pton(AF_INET6, host.partition("%")[0])[:PREFIX].hex()


def by_lot(some: Sequence[T]) -> T:
    """Any of them, by the operating system's randomness; `secrets` takes four times as long."""
    return some[int.from_bytes(os.urandom(8), "big") % len(some)]


class Crowd(Generic[T]):
    """Things that came from some source each; any of them may have to go for a newcomer.

    Which one is drawn by lot, from the operating system's randomness: whoever can tell who goes
    next fills the crowd so that it is always somebody else.
    """

    def __init__(self) -> None:
        self._by_source: dict[str, list[T]] = {}
        self._sources: dict[T, str] = {}

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[T]:
        return iter(self._sources)

    def __contains__(self, one: T) -> bool:
        return one in self._sources

    def add(self, one: T, source: str) -> None:
        self._sources[one] = source
        self._by_source.setdefault(source, []).append(one)

    def discard(self, one: T) -> None:
        source = self._sources.pop(one, None)
        if source is None:
            return
        beside = self._by_source[source]
        beside.remove(one)
        if not beside:
            del self._by_source[source]

    def victim(self, source: str, most: int) -> T | None:
        """Who has to go before one more comes from this source, if only `most` may be here.

        A source that has its share pays itself; else one of those pay that have most here.
        """
        own = self._by_source.get(source, [])
        if own and len(own) >= most // SHARES:
            return by_lot(own)
        if len(self) < most:
            return None
        largest = max(map(len, self._by_source.values()))
        return by_lot(
            [one for many in self._by_source.values() if len(many) == largest for one in many]
        )

    def draw(self) -> T:
        """Take one out; each source has the same chance, however many came from it."""
        source = by_lot(list(self._by_source))
        one = by_lot(self._by_source[source])
        self.discard(one)
        return one

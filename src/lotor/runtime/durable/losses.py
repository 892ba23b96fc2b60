"""Peers that may be lost for good: what they said stays here, and who of them has left the run.

A restarted party is handed again what came after its last checkpoint, by its peers. One that is
gone can send nothing again, so what it has said is on the disk before anything leaves that depends
on it, and so is its exclusion, with the number of its last message that counts.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from lotor.core.effects import Exclusion
from lotor.runtime.durable.link import Link

SCHEMA = """
CREATE TABLE IF NOT EXISTS taken (
    run TEXT NOT NULL,
    peer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (run, peer, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS exclusions (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    excluded BLOB NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agreements (
    run TEXT NOT NULL,
    party TEXT NOT NULL,
    signer TEXT NOT NULL,
    since REAL NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (run, party, signer)
) STRICT, WITHOUT ROWID;
"""


class AgreedTo(NamedTuple):
    """That `signer` agrees to go on without a party, which is away since then."""

    party: str
    signer: str
    since: float
    signature: bytes


class TakenMessage(NamedTuple):
    """A message that a party was handed, by its number on the way from the peer."""

    peer: str
    seq: int
    payload: bytes

    def __repr__(self) -> str:
        return f"<TakenMessage {self.seq} of {self.peer}>"


class Excluded(msgspec.Struct, frozen=True, array_like=True):
    """An exclusion, and which message of each peer that left was the last one to count here."""

    exclusion: Exclusion
    last: dict[str, int] = msgspec.field(default_factory=dict)


class LossRecord:
    """One run's rows; every change is part of the caller's transaction."""

    def __init__(self, database: sqlite3.Connection, run: str) -> None:
        self._database = database
        self._run = run

    def exclusions(self) -> list[Excluded]:
        """In the order in which they were agreed to."""
        rows = self._database.execute(
            "SELECT excluded FROM exclusions WHERE run = ? ORDER BY number", (self._run,)
        )
        return [msgspec.msgpack.decode(data, type=Excluded) for (data,) in rows]

    def add(self, excluded: Excluded) -> None:
        self._database.execute(
            "INSERT INTO exclusions SELECT ?, count(*), ? FROM exclusions WHERE run = ?",
            (self._run, msgspec.msgpack.encode(excluded), self._run),
        )

    def agreements(self) -> list[AgreedTo]:
        rows = self._database.execute(
            "SELECT party, signer, since, signature FROM agreements WHERE run = ?", (self._run,)
        )
        return [AgreedTo(*row) for row in rows]

    def agree(self, agreed: AgreedTo) -> None:
        """Of two about one party by the same signer, the last one counts."""
        self._database.execute(
            "INSERT OR REPLACE INTO agreements VALUES (?, ?, ?, ?, ?)", (self._run, *agreed)
        )

    def keep(self, messages: Iterable[TakenMessage]) -> None:
        self._database.executemany(
            "INSERT OR IGNORE INTO taken VALUES (?, ?, ?, ?)",
            [(self._run, *message) for message in messages],
        )

    def taken(self) -> list[TakenMessage]:
        rows = self._database.execute(
            "SELECT peer, seq, payload FROM taken WHERE run = ? ORDER BY peer, seq", (self._run,)
        )
        return [TakenMessage(*row) for row in rows]

    def forget_taken(self) -> None:
        """A checkpoint has what came of them."""
        self._database.execute("DELETE FROM taken WHERE run = ?", (self._run,))

    def forget_outbox(self, peers: Iterable[str]) -> None:
        """Nobody will ever send these peers anything."""
        self._database.executemany(
            "DELETE FROM outbox WHERE run = ? AND peer = ?", [(self._run, peer) for peer in peers]
        )


class LossLog:
    """What a host has taken since its last checkpoint from peers that may leave, and who has."""

    def __init__(self, record: LossRecord, links: Mapping[str, Link]) -> None:
        self.unwritten: list[TakenMessage] = []
        self._links = links
        self._excluded = record.exclusions()
        for message in record.taken():
            links[message.peer].recall(message.seq, message.payload)
        for excluded in self._excluded:
            self._end_links(excluded)

    def took(self, peer: str, payload: bytes) -> None:
        """The party is handed a message of a peer that may be lost."""
        self.unwritten.append(TakenMessage(peer, self._links[peer].consumed, payload))

    def instead_of(self, peer: str) -> Exclusion | None:
        """What the party is handed in the place of a peer's next message, if the peer has left."""
        consumed = self._links[peer].consumed
        for excluded in self._excluded:
            if excluded.last.get(peer) == consumed:
                return excluded.exclusion
        return None

    def about(self, exclusion: Exclusion) -> Excluded:
        """An exclusion, with what counts of those that leave."""
        links = self._links
        return Excluded(exclusion, {one: links[one].consumed for one in exclusion.away})

    def excluded(self, excluded: Excluded) -> None:
        """It is written down, and takes effect."""
        self.written()
        self._excluded.append(excluded)
        self._end_links(excluded)

    def written(self) -> None:
        """All that was taken is on the disk, as it came or in a checkpoint."""
        self.unwritten.clear()

    def _end_links(self, excluded: Excluded) -> None:
        for peer, last in excluded.last.items():
            self._links[peer].leave(last)

"""One run's part of the journal: checkpoints, links and answers, each change in one commit."""

import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from lotor.core.effects import Collect, Decision, KnownOutcome
from lotor.core.errors import JournalError
from lotor.runtime.durable import kept_states, losses, outbox, outcomes
from lotor.runtime.durable.database import errors
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.losses import Excluded, LossRecord, TakenMessage
from lotor.runtime.durable.outcomes import RunOutcomes
from lotor.runtime.durable.run_output import NO_OUTPUT, RunOutput
from lotor.runtime.durable.transaction import transaction, unwritable

SCHEMA = (
    outbox.SCHEMA
    + outcomes.SCHEMA
    + losses.SCHEMA
    + kept_states.SCHEMA
    + """
CREATE TABLE IF NOT EXISTS progress (
    run TEXT PRIMARY KEY,
    snapshot BLOB,
    finished INTEGER NOT NULL DEFAULT 0,
    round INTEGER NOT NULL DEFAULT 0,
    pulls INTEGER NOT NULL DEFAULT 0,
    messages_sent INTEGER NOT NULL DEFAULT 0,
    bytes_sent INTEGER NOT NULL DEFAULT 0,
    output TEXT,
    checkpoints INTEGER NOT NULL DEFAULT 0,
    incarnation INTEGER NOT NULL DEFAULT 0,
    repeatable INTEGER NOT NULL,
    paid INTEGER,
    mean REAL
) STRICT;
CREATE TABLE IF NOT EXISTS links (
    run TEXT NOT NULL,
    peer TEXT NOT NULL,
    sent INTEGER NOT NULL,
    acked INTEGER NOT NULL,
    consumed INTEGER NOT NULL,
    known INTEGER NOT NULL,
    PRIMARY KEY (run, peer)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pulls (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    decision TEXT,
    answered INTEGER NOT NULL,
    reward REAL,
    features BLOB,
    synced INTEGER NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""
)

# A reward, nothing (of a decision that was carried out), or features.
Answer: TypeAlias = float | tuple[float, ...] | None


def _columns(answer: Answer) -> tuple[float | None, bytes | None]:
    """The reward and the features of an answer, as they are kept."""
    if isinstance(answer, tuple):
        return None, struct.pack(f"<{len(answer)}d", *answer)
    return answer, None


def _answer(reward: float | None, features: bytes | None) -> Answer:
    if features is None:
        return reward
    return struct.unpack(f"<{len(features) // 8}d", features)


@dataclass(frozen=True, slots=True)
class PullRecord:
    """A question to the world, as the journal has it, and its answer.

    `decision` is None in a round that pulled nothing here. `once` is the digest of a value that
    may leave once; such an entry is no question, but is numbered among them.
    """

    number: int
    decision: str | None
    answer: Answer = field(repr=False)
    answered: bool
    once: bytes | None = field(default=None, repr=False)

    @classmethod
    def of_row(
        cls,
        number: int,
        decision: str | None,
        reward: float | None,
        features: bytes | None,
        answered: int,
    ) -> "PullRecord":
        """Only what may leave once has features, its digest, but no decision."""
        if decision is None and features is not None:
            return cls(number, None, None, bool(answered), features)
        return cls(number, decision, _answer(reward, features), bool(answered))


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run as of its last checkpoint; one that has ended has no snapshot."""

    snapshot: bytes = field(repr=False)
    finished: bool
    round: int
    pulls: int
    messages_sent: int
    bytes_sent: int
    output: RunOutput = field(repr=False)
    links: dict[str, Link]
    repeatable: bool


class RunRecord:
    """One run's part of a journal."""

    def __init__(self, database: sqlite3.Connection, run: str) -> None:
        self._database = database
        self.run = run
        self.outcomes = RunOutcomes(database, run)
        self.losses = LossRecord(database, run)
        self.incarnation = 0
        # How often the run was written: peers recognise a journal that has gone back by it.
        # Only writes that are sure to survive a power cut count. Restarts do not: by restarting
        # often enough, an old journal could catch up.
        self.commits = 0
        # The counters of each link as they were last written; unchanged ones are not written again.
        self._written: dict[str, tuple[int, int, int, int]] = {}

    def create(self, snapshot: bytes, *, repeatable: bool = False) -> None:
        """Write a new run down; part of the caller's transaction.

        Whether pulls can be asked again is fixed for the run: a pull that was not written down
        under one rule would be repeated, or missed, under the other.
        """
        self._database.execute(
            "INSERT INTO progress (run, snapshot, repeatable) VALUES (?, ?, ?)",
            (self.run, snapshot, repeatable),
        )

    def begin(self) -> SavedRun:
        """Where to go on; counted as a restart."""
        row = self._database.execute(
            "SELECT snapshot, finished, round, pulls, messages_sent, bytes_sent, output, "
            "checkpoints, incarnation, repeatable FROM progress WHERE run = ?",
            (self.run,),
        ).fetchone()
        if row is None:
            raise JournalError(f"the journal has no run {self.run}")
        snapshot, finished, t, pulls, messages, size, output, checkpoints, *rest = row
        self.incarnation, repeatable = rest
        (synced,) = self._database.execute(
            "SELECT coalesce(sum(synced), 0) FROM pulls WHERE run = ?", (self.run,)
        ).fetchone()
        self.commits = checkpoints + synced
        self.incarnation += 1
        with transaction(self._database):
            self._database.execute(
                "UPDATE progress SET incarnation = ? WHERE run = ?", (self.incarnation, self.run)
            )
        return SavedRun(
            snapshot=snapshot or b"",
            finished=bool(finished),
            round=t,
            pulls=pulls,
            messages_sent=messages,
            bytes_sent=size,
            output=RunOutput.from_json(output),
            links=self._links(),
            repeatable=bool(repeatable),
        )

    def _links(self) -> dict[str, Link]:
        rows = self._database.execute(
            "SELECT peer, sent, acked, consumed, known FROM links WHERE run = ?", (self.run,)
        )
        links = {row[0]: Link(*row) for row in rows}
        self._written = {peer: _counters(link) for peer, link in links.items()}
        outbox.load(self._database, self.run, links)
        return links

    def pulls_after(self, number: int) -> list[PullRecord]:
        rows = self._database.execute(
            "SELECT number, decision, reward, features, answered FROM pulls "
            "WHERE run = ? AND number > ?",
            (self.run, number),
        )
        return [PullRecord.of_row(*row) for row in rows]

    def checkpoint(
        self,
        snapshot: bytes | None,
        *,
        round: int,  # noqa: A002
        pulls: int,
        messages_sent: int,
        bytes_sent: int,
        links: Iterable[Link],
        output: RunOutput = NO_OUTPUT,
        kept: bytes | None = None,
    ) -> None:
        """State, counters and the unacknowledged outbox, in one transaction (rule 4).

        A party that has finished has no snapshot any more; what is to be `kept` of it is sealed.
        What an earlier checkpoint has written is not written again.
        """
        changed = [link for link in links if self._written.get(link.peer) != _counters(link)]
        with self._transaction():
            self._database.execute(
                "UPDATE progress SET snapshot = ?, finished = ?, round = ?, pulls = ?, "
                "messages_sent = ?, bytes_sent = ?, output = ?, "
                "checkpoints = checkpoints + 1 "
                "WHERE run = ?",
                (
                    snapshot,
                    snapshot is None,
                    round,
                    pulls,
                    messages_sent,
                    bytes_sent,
                    output.to_json(),
                    self.run,
                ),
            )
            self.losses.forget_taken()
            if kept is not None:
                self._database.execute(
                    "INSERT INTO kept VALUES (?, ?, ?)", (self.run, kept, time.time())
                )
            for link in changed:
                self._save_outbox(link)
                self._save_counters(link)
        # Only now: a transaction that failed has written nothing.
        self._written.update((link.peer, _counters(link)) for link in changed)
        self.commits += 1

    def _transaction(self) -> AbstractContextManager[None]:
        return transaction(self._database)

    def _save_counters(self, link: Link) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO links (run, peer, sent, acked, consumed, known) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (self.run, link.peer, *_counters(link)),
        )

    def _save_outbox(self, link: Link) -> None:
        after, _, _, _ = self._written.get(link.peer, (0, 0, 0, 0))
        outbox.save(self._database, self.run, link, after=after)

    def intend(self, number: int, decision: Decision | None) -> None:
        """Write down what is about to be asked; a round without a pull writes as much."""
        self._write(
            "INSERT INTO pulls VALUES (?, ?, ?, 0, NULL, NULL, 1)",
            (self.run, number, decision.id if decision else None),
        )
        self.commits += 1

    def answer(self, number: int, answer: Answer) -> None:
        """Write down the answer to a question whose intent was written down."""
        self._write(
            "UPDATE pulls SET answered = 1, reward = ?, features = ?, synced = 2 "
            "WHERE run = ? AND number = ?",
            (*_columns(answer), self.run, number),
        )
        self.commits += 1

    def note(self, number: int, decision: Decision | None, answer: Answer) -> None:
        """Write down an answer that the world would give again; a power cut may lose it.

        Without waiting for the disk; the next checkpoint does.
        """
        with self._unsynced():
            self._insert(number, decision, answer, synced=0)

    def issue(self, number: int, decision: Decision | None) -> None:
        """Write down a decision whose outcome comes later; None as well, so that it looks alike.

        Without waiting for the disk: a party that is rebuilt comes to the same decision. Before
        anybody's outcome is written down, this is on the disk.
        """
        with self._unsynced(), self._transaction():
            self._database.execute(
                "INSERT INTO pulls VALUES (?, ?, ?, ?, NULL, NULL, 0)",
                (self.run, number, decision.id if decision else None, decision is None),
            )
            if decision is None:
                self.outcomes.issue_none()
            else:
                self.outcomes.issue(decision)

    def show(self, decision: Decision, *, paid_here: bool = True) -> None:
        """Let people or programs find a decision, which is written down elsewhere."""
        with self._unsynced(), self._transaction():
            self.outcomes.issue(decision, paid_here=paid_here)

    def collect(self, number: int, asked: Collect) -> tuple[KnownOutcome, ...]:
        """Write down, for good, which outcomes a party is handed, if any.

        What it waited for and is not there never counts. All in one step: what somebody tells
        meanwhile is either handed to the party or refused.
        """
        with self._transaction():
            arrived = self.outcomes.arrived()
            self._database.execute(
                "INSERT INTO pulls VALUES (?, ?, NULL, 1, NULL, NULL, 1)", (self.run, number)
            )
            handed = [asked.waiting[one.round] for one in arrived]
            self.outcomes.count(asked.t, {*handed, *asked.awaited})
        self.commits += 1
        return arrived

    @contextmanager
    def _unsynced(self) -> Iterator[None]:
        """Do not wait for the disk (WAL with synchronous=NORMAL)."""
        self._database.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._database.execute("PRAGMA synchronous = FULL")

    def keep(
        self, number: int, decision: Decision | None, answer: Answer, *, counted: bool = True
    ) -> None:
        """Write down, for good, an answer without an intent that must never become another one.

        Peers see how many writes are `counted`: one must not tell them who was pulled.
        """
        self._insert(number, decision, answer, synced=int(counted))
        self.commits += counted

    def keep_taken(self, messages: Iterable[TakenMessage]) -> None:
        """Write down what peers have said that may be lost, without waiting for the disk."""
        with self._unsynced(), self._transaction():
            self.losses.keep(messages)

    def exclude(self, excluded: Excluded, messages: Iterable[TakenMessage]) -> None:
        """Write down, for good, that peers have left the run, and what they said before."""
        with self._transaction():
            self.losses.keep(messages)
            self.losses.add(excluded)
            self.losses.forget_outbox(excluded.exclusion.away)

    def keep_once(self, number: int, digest: bytes) -> None:
        """Write down, for good, the digest of a value that may leave once."""
        self._write(
            "INSERT INTO pulls VALUES (?, ?, NULL, 1, NULL, ?, 1)", (self.run, number, digest)
        )
        self.commits += 1

    def _insert(
        self, number: int, decision: Decision | None, answer: Answer, *, synced: int
    ) -> None:
        self._write(
            "INSERT OR REPLACE INTO pulls VALUES (?, ?, ?, 1, ?, ?, ?)",
            (self.run, number, decision.id if decision else None, *_columns(answer), synced),
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        """Execute one statement: a transaction of its own, cheaper than BEGIN and COMMIT."""
        try:
            self._database.execute(statement, values)
        except errors() as error:
            raise unwritable(error) from error


def _counters(link: Link) -> tuple[int, int, int, int]:
    return link.sent, link.acked, link.consumed, link.known

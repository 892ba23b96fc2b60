"""The messages of a run that peers have not acknowledged, on disk.

All that a checkpoint adds for one peer is one row, which is written once and deleted once its
last message is acknowledged: many small rows would cost more than the messages themselves.
"""

import sqlite3
from itertools import takewhile

import msgspec

from lotor.runtime.durable.link import Link

SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    run TEXT NOT NULL,
    peer TEXT NOT NULL,
    last INTEGER NOT NULL,
    messages BLOB NOT NULL,
    PRIMARY KEY (run, peer, last)
) STRICT;
"""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[bytes]).decode


def load(database: sqlite3.Connection, run: str, links: dict[str, Link]) -> None:
    """Give each link the messages that its peer has not acknowledged."""
    rows = database.execute(
        "SELECT peer, last, messages FROM outbox WHERE run = ? ORDER BY peer, last", (run,)
    )
    for peer, last, encoded in rows:
        link, messages = links[peer], _decode(encoded)
        first = last - len(messages) + 1
        link.outbox.extend(
            (seq, payload) for seq, payload in enumerate(messages, first) if seq > link.acked
        )


def save(database: sqlite3.Connection, run: str, link: Link, *, after: int) -> None:
    """Write down the messages after number `after`; part of the caller's transaction."""
    database.execute(
        "DELETE FROM outbox WHERE run = ? AND peer = ? AND last <= ?", (run, link.peer, link.acked)
    )
    new = list(takewhile(lambda message: message[0] > after, reversed(link.outbox)))
    if new:
        messages = [payload for _, payload in reversed(new)]
        database.execute(
            "INSERT INTO outbox VALUES (?, ?, ?, ?)", (run, link.peer, new[0][0], _encode(messages))
        )

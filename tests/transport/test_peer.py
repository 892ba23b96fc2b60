"""Unread frames of one peer are bounded, however often it connects."""

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import LotorError
from lotor.transport.connection import Connection
from lotor.transport.peer import FRAME_COST, Peer


class Fake:
    """Counts what a peer does to its connection."""

    def __init__(self) -> None:
        self.over = self.paused = False
        self.hello = None

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def give_up(self, _error: LotorError) -> None:
        self.over = True


@given(st.lists(st.lists(st.binary(max_size=50), min_size=1, max_size=5), max_size=80))
def test_memory_is_bounded_and_nothing_kept_is_lost(batches: list[list[bytes]]) -> None:
    limit = 500
    most = limit + 5 * (50 + FRAME_COST)
    peer, kept = Peer("lyon", 0.0, limit), []
    for batch in batches:
        fake = Fake()  # a new connection for each batch: the rudest that a peer can be
        peer.up(cast(Connection, fake))
        peer.push(batch)
        if not fake.over:
            kept += batch
        assert sum(len(frame) + FRAME_COST for frame in kept) <= most
        assert fake.over or fake.paused == (sum(len(frame) + FRAME_COST for frame in kept) > limit)
    taken = [peer.pop() for _ in kept]
    assert taken == kept
    assert peer.pop() is None
    assert not cast(Fake, peer.connection).paused if batches else True

"""What one process knows of one other party: its connection, its frames, why it is away."""

import asyncio
import time
from collections import deque

from lotor.core.errors import LotorError, TransportError
from lotor.transport.connection import Connection
from lotor.transport.handshake import Hello

# A frame costs this much memory beside its bytes, so that many empty ones count, too.
FRAME_COST = 64


class Peer:
    """The state of one other party; frames outlive the connection that brought them."""

    def __init__(self, name: str, down_since: float, unread: int) -> None:
        self.name = name
        self.connection: Connection | None = None
        self.hello: Hello | None = None
        self.error: LotorError | None = None
        self.sessions = 0
        self.up_since = 0.0
        self.down_since = down_since
        self.away = asyncio.Event()
        self.away.set()
        self._frames: deque[bytes] = deque()
        self._unread = 0
        self._limit = unread

    def connected(self) -> bool:
        return self.connection is not None and not self.connection.over

    def up(self, connection: Connection) -> None:
        self.connection = connection
        self.hello = connection.hello
        self.error = None
        self.sessions += 1
        self.up_since = time.monotonic()
        self.away.clear()
        self._hold_back()

    def down(self, error: LotorError | None) -> None:
        self.connection = None
        self.error = error
        self.down_since = time.monotonic()
        self.away.set()

    def push(self, frames: list[bytes]) -> None:
        """Keep frames until they are asked for, and slow down a peer whose frames pile up."""
        if self._unread > self._limit and self.connection is not None:
            # Reading has paused already, so this peer pushes on by connecting again and again.
            self.connection.give_up(
                TransportError(f"frames of {self.name} pile up unread: it must wait and try again")
            )
            return
        self._frames.extend(frames)
        self._unread += sum(map(len, frames)) + FRAME_COST * len(frames)
        self._hold_back()

    def pop(self) -> bytes | None:
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self._unread -= len(frame) + FRAME_COST
        if self.connection is not None and self._unread <= self._limit // 2:
            self.connection.resume()
        return frame

    def _hold_back(self) -> None:
        if self._unread > self._limit and self.connection is not None:
            self.connection.pause()

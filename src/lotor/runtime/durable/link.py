"""One party's end of a link to a peer within one run.

Rules 1 to 3 of docs/resume.md: messages are numbered; only the next number is accepted; what the
peer has not acknowledged as durable is kept and sent again after each reconnect. How fast is up to
the connection: what it does not admit yet waits in `unsent`, new messages behind the old ones.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from lotor.core.errors import JournalError, ProtocolError
from lotor.runtime.durable.frames import Join

MESSAGES_AHEAD = 4096
BYTES_AHEAD = 64 << 20


@dataclass(slots=True)
class Link:
    """`sent` and `consumed` are the numbers of the last message sent, and handed to the party.

    `acked` is what the peer has durably, `durable` what this side has (`consumed` as of the last
    checkpoint), and `known` the peer's highest commit number seen. A peer that is `gone` has left
    the run for good.
    """

    peer: str
    sent: int = 0
    acked: int = 0
    consumed: int = 0
    known: int = 0
    outbox: deque[tuple[int, bytes]] = field(default_factory=deque, repr=False)
    durable: int = 0
    received: int = 0
    inbox: deque[bytes] = field(default_factory=deque, repr=False)
    joined: bool = False
    gone: bool = False
    unsent: deque[tuple[int, bytes]] = field(default_factory=deque, repr=False)
    told: int = 0
    _ceiling: int = 0
    _waiting_bytes: int = 0
    _incarnation: int = 0
    _recent: dict[int, bytes] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.durable = self.received = self.consumed

    def post(self, payload: bytes) -> None:
        """Number a message and keep it, unless the peer has it already, from before a restart."""
        self.sent += 1
        if self.sent <= self.acked or self.gone:
            return
        message = (self.sent, payload)
        self.outbox.append(message)
        if self.joined:
            self.unsent.append(message)

    def part(self) -> None:
        """The connection is gone."""
        self.joined = False
        self.unsent.clear()

    def join(self, join: Join, commits: int) -> None:
        """Begin a connection: all that the peer does not have durably is `unsent`.

        Refuses a peer whose journal is older than what it has said before, and this side's own
        journal (written `commits` times) when the peer has seen a newer one.
        """
        self.part()
        if join.known > commits:
            raise JournalError(
                f"{self.peer} has seen this party's journal at write {join.known}, but it is at "
                f"{commits}: it was restored from a backup, or copied. Put back the newest "
                "journal, or stop the run; replaying an old one would pull twice"
            )
        if join.commits < self.known or join.ack < self.acked:
            raise JournalError(
                f"{self.peer} comes back with a journal at write {join.commits}, but was at "
                f"{self.known} before: its journal was restored from a backup or copied, and its "
                "operator must put back the newest one, or stop the run"
            )
        if join.incarnation != self._incarnation:
            # Restarted: what it sends again may be sealed anew; the first accepted counts.
            self._incarnation = join.incarnation
            self._recent.clear()
        self._ceiling = join.received
        self.joined = True
        self.acknowledge(join.ack, join.commits)
        self.unsent.extend(self.outbox)

    def acknowledge(self, ack: int, commits: int) -> None:
        """Forget the messages that the peer has durably."""
        if ack > self.sent and ack > self._ceiling:
            raise ProtocolError(
                f"{self.peer} acknowledges message {ack}, but {self.sent} were sent: it is out of "
                "step, or runs another program"
            )
        self.known = max(self.known, commits)
        if ack > self.acked:
            self.acked = ack
            for messages in (self.outbox, self.unsent):
                while messages and messages[0][0] <= ack:
                    messages.popleft()

    def accept(self, seq: int, payload: bytes) -> bool:
        """Take message `seq` if it is the next one; a duplicate changes nothing."""
        if seq == self.received + 1:
            self._check_flood(seq, len(payload))
            self.received = seq
            self.inbox.append(payload)
            self._waiting_bytes += len(payload)
            self._recent[seq] = payload
            return True
        if seq > self.received:
            raise ProtocolError(
                f"{self.peer} sent message {seq}, but {self.received + 1} is due: messages were "
                "lost or reordered on their way"
            )
        if self._recent.get(seq, payload) != payload:
            raise ProtocolError(
                f"{self.peer} sent two different messages as number {seq}: the first one counts"
            )
        return False

    def _check_flood(self, seq: int, size: int) -> None:
        """Bound what a peer may send ahead; a single message may be as long as a frame may be."""
        ahead = None
        if seq > self.consumed + MESSAGES_AHEAD:
            ahead = f"{MESSAGES_AHEAD} messages"
        elif self.inbox and self._waiting_bytes + size > BYTES_AHEAD:
            ahead = f"{BYTES_AHEAD} bytes"
        if ahead is not None:
            raise ProtocolError(
                f"{self.peer} is {ahead} ahead of this party: it is out of step, or floods this "
                "party"
            )

    def take(self) -> bytes | None:
        """The next message for the party."""
        if not self.inbox:
            return None
        self.consumed += 1
        payload = self.inbox.popleft()
        self._waiting_bytes -= len(payload)
        return payload

    def recall(self, seq: int, payload: bytes) -> None:
        """A message that was consumed after the last checkpoint, and is known here for good."""
        self.received = seq
        self.inbox.append(payload)
        self._waiting_bytes += len(payload)

    def leave(self, last: int) -> None:
        """The peer has left the run: the message of this number is its last, and it gets none."""
        self.part()
        self.gone = True
        self.outbox.clear()
        while self.consumed + len(self.inbox) > last:
            self._waiting_bytes -= len(self.inbox.pop())

    def checkpointed(self) -> None:
        """Take note that all consumed messages are durable now."""
        for seq in range(self.durable + 1, self.consumed + 1):
            self._recent.pop(seq, None)
        self.durable = self.consumed

    @property
    def ack(self) -> int:
        """The last message that the peer may be told is durable here."""
        return self.durable


class Links(dict[str, Link]):
    """A party's links in one run, by peer."""

    def __init__(self, party: str, links: Mapping[str, Link]) -> None:
        super().__init__(links)
        self._party = party

    def __missing__(self, peer: str) -> Link:
        raise ProtocolError(f"{self._party} talks to {peer}, but has no link to it in this run")

"""Two links over a connection that is cut, between parties that lose their memory."""

from collections import deque
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lotor.core.errors import JournalError, LotorError, ProtocolError
from lotor.runtime.durable import link as link_module
from lotor.runtime.durable.frames import Join
from lotor.runtime.durable.link import MESSAGES_AHEAD, Link

Sent = tuple[int, int, int, bytes]
Wire = deque[Join | Sent]
SIDES = st.sampled_from((0, 1))
MANY = st.sampled_from((0, 1, 3, 100))
ROOM = 4


class Side:
    """A party that sends on what it gets, and what it would go on with after a crash.

    What it sends depends on how many messages it was handed, and on nothing else: like a party,
    it says the same again, only sealed anew.
    """

    def __init__(self, peer: str, salt: int) -> None:
        self.salt = salt
        self.link = Link(peer)
        self.handed: list[bytes] = []
        self.posted = 0
        self.commits = 0
        self.incarnation = 1
        self.kept = (Link(peer), 0, 0)

    def content(self) -> bytes:
        return b"%d:%d/%d" % (self.salt, self.posted, self.incarnation)

    def checkpoint(self) -> None:
        self.commits += 1
        link = self.link
        saved = Link(
            link.peer, link.sent, link.acked, link.consumed, link.known, deepcopy(link.outbox)
        )
        self.kept = (saved, len(self.handed), self.posted)
        link.checkpointed()

    def crash(self) -> None:
        saved, handed, self.posted = self.kept
        self.link = deepcopy(saved)
        del self.handed[handed:]
        self.incarnation += 1

    def join(self) -> Join:
        link = self.link
        return Join("aa", self.incarnation, self.commits, link.known, link.received, link.ack)


class TwoLinks(RuleBasedStateMachine):
    """Every message is handed over once and in order, whatever is lost in between.

    A connection has no room for more than a few frames, so that the others wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sides = (Side("right", 0), Side("left", 1))
        self.wires: tuple[Wire, Wire] = (deque(), deque())
        self.up = False

    def catch_up(self, side: int) -> None:
        here, wire = self.sides[side], self.wires[side]
        while here.link.unsent and len(wire) < ROOM:
            seq, payload = here.link.unsent.popleft()
            wire.append((seq, here.link.ack, here.commits, payload))

    @rule()
    def cut(self) -> None:
        self.up = False
        for side in (0, 1):
            self.wires[side].clear()
            self.sides[side].link.part()

    def connect(self) -> None:
        self.up = True
        for side in (0, 1):
            self.wires[side].append(self.sides[side].join())

    @rule(side=SIDES, count=st.integers(1, 5))
    def work(self, side: int, count: int) -> None:
        """Take what is there and say something."""
        here = self.sides[side]
        while (payload := here.link.take()) is not None:
            here.handed.append(payload)
        for _ in range(count):
            here.posted += 1
            here.link.post(here.content())
        self.catch_up(side)

    @rule(counts=st.tuples(MANY, MANY), twice=st.booleans())
    def exchange(self, counts: tuple[int, int], twice: bool) -> None:
        """Let frames arrive, on a new connection if need be; what does not arrive may be lost."""
        if not self.up:
            self.connect()
        for side in (0, 1, 0, 1):
            for _ in range(counts[side]):
                if not self.wires[side]:
                    break
                self.arrive(side, self.wires[side].popleft(), twice)
                self.catch_up(side)

    def arrive(self, side: int, frame: Join | Sent, twice: bool) -> None:
        there = self.sides[1 - side]
        if isinstance(frame, Join):
            there.link.join(frame, there.commits)
            self.catch_up(1 - side)
        elif there.link.joined:
            seq, ack, commits, payload = frame
            for _ in range(1 + twice):
                there.link.acknowledge(ack, commits)
                there.link.accept(seq, payload)

    @rule(side=SIDES)
    def checkpoint(self, side: int) -> None:
        self.sides[side].checkpoint()

    @rule(side=SIDES)
    def crash(self, side: int) -> None:
        self.sides[side].crash()
        self.cut()

    @invariant()
    def each_once_and_in_order(self) -> None:
        for side in (0, 1):
            numbers = [payload.partition(b"/")[0] for payload in self.sides[side].handed]
            salt = self.sides[1 - side].salt
            assert numbers == [b"%d:%d" % (salt, i + 1) for i in range(len(numbers))]

    @invariant()
    def nothing_is_forgotten_too_early(self) -> None:
        for side in (0, 1):
            here, there = self.sides[side].link, self.sides[1 - side]
            durable = there.kept[1]
            assert here.acked <= durable
            waiting = [seq for seq, _ in here.outbox]
            assert waiting == list(range(here.acked + 1, here.sent + 1))

    @invariant()
    def what_was_not_sent_is_the_end_of_what_is_kept(self) -> None:
        for side in (0, 1):
            link = self.sides[side].link
            assert list(link.unsent) == list(link.outbox)[len(link.outbox) - len(link.unsent) :]
            assert link.joined or not link.unsent

    def teardown(self) -> None:
        """Once connections last, everything arrives."""
        self.cut()
        for _ in range(2):
            self.exchange((10**6, 10**6), twice=False)
            for side in (0, 1):
                self.work(side, 1)
        for side in (0, 1):
            # A restarted side may have yet to come to what the other one has of it already.
            assert len(self.sides[1 - side].handed) >= self.sides[side].posted - 1


TestTwoLinks = TwoLinks.TestCase
TestTwoLinks.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)


def linked() -> Link:
    """A link to porto on a new connection."""
    link = Link("porto")
    link.join(Join("aa", 1, 0, 0, 0, 0), 0)
    return link


def state(link: Link) -> tuple[object, ...]:
    return (link.received, link.consumed, list(link.inbox), link.acked, list(link.outbox))


@given(st.lists(st.binary(max_size=8), min_size=1), st.data())
def test_a_duplicate_changes_nothing_and_another_message_is_refused(
    payloads: list[bytes], data: st.DataObject
) -> None:
    link = linked()
    for seq, payload in enumerate(payloads, 1):
        assert link.accept(seq, payload)
    before = state(link)
    seq = data.draw(st.integers(1, len(payloads)))
    assert not link.accept(seq, payloads[seq - 1])
    with pytest.raises(ProtocolError, match=f"porto sent two different messages as number {seq}"):
        link.accept(seq, payloads[seq - 1] + b"!")
    assert state(link) == before


@given(st.integers(0, 5), st.integers(2, 2**62))
def test_a_gap_is_refused(received: int, ahead: int) -> None:
    link = linked()
    for seq in range(1, received + 1):
        link.accept(seq, b"")
    before = state(link)
    with pytest.raises(ProtocolError, match=f"porto sent message .* {received + 1} is due"):
        link.accept(received + ahead, b"")
    assert state(link) == before


@given(st.integers(0, 5), st.integers(1, 2**62))
def test_what_was_never_sent_cannot_be_acknowledged(sent: int, more: int) -> None:
    link = linked()
    for _ in range(sent):
        link.post(b"")
    before = state(link)
    with pytest.raises(ProtocolError, match=f"porto acknowledges message {sent + more}"):
        link.acknowledge(sent + more, 1)
    assert state(link) == before


def test_a_flood_is_refused_and_goes_on_when_messages_are_taken() -> None:
    link = linked()
    for seq in range(1, MESSAGES_AHEAD + 1):
        link.accept(seq, b"")
    with pytest.raises(ProtocolError, match="porto is 4096 messages ahead"):
        link.accept(MESSAGES_AHEAD + 1, b"")
    link.take()
    assert link.accept(MESSAGES_AHEAD + 1, b"")


def test_few_but_long_messages_are_a_flood_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "BYTES_AHEAD", 100)
    link = linked()
    assert link.accept(1, bytes(1000))  # what is asked for may be of any length
    with pytest.raises(ProtocolError, match=r"porto .*bytes ahead"):
        link.accept(2, b"")
    link.take()
    assert link.accept(2, bytes(60))
    assert link.accept(3, bytes(40))
    with pytest.raises(ProtocolError, match=r"porto .*bytes ahead"):
        link.accept(4, b"!")


@pytest.mark.parametrize(
    ("join", "words"),
    [
        (Join("aa", 2, 9, 6, 0, 3), "has seen this party's journal at write 6, but it is at 5"),
        (Join("aa", 2, 7, 5, 0, 3), "at write 7, but was at 8"),
        (Join("aa", 2, 9, 5, 0, 2), "restored from a backup"),
    ],
    ids=["own journal is old", "its journal is old", "it has lost messages"],
)
def test_an_old_journal_is_refused_on_both_sides(join: Join, words: str) -> None:
    link = Link("porto", sent=4, acked=3, known=8, outbox=deque([(4, b"four")]))
    before = state(link)
    with pytest.raises(JournalError, match=words) as raised:
        link.join(join, commits=5)
    assert "porto" in str(raised.value)
    assert state(link) == before
    assert not link.joined


@given(st.integers(1, 2**62), st.integers(0, 2**62), st.integers(0, 2**62), st.integers(0, 2**62))
def test_any_join_is_taken_or_refused_by_name(
    incarnation: int, commits: int, received: int, ack: int
) -> None:
    link = Link("porto", sent=4, acked=3, known=8, outbox=deque([(4, b"four")]))
    join = Join("aa", incarnation, commits, 0, received, ack)
    if commits < 8 or ack < 3 or ack > max(4, received):
        with pytest.raises(LotorError, match="porto"):
            link.join(join, commits=5)
        return
    link.join(join, commits=5)
    assert [seq for seq, _ in link.unsent] == [seq for seq in (4,) if seq > ack]
    assert link.joined
    assert link.acked == ack


def test_a_restarted_peer_may_seal_anew_what_was_accepted() -> None:
    link = linked()
    link.accept(1, b"sealed once")
    link.join(Join("aa", 2, 0, 0, 0, 0), 0)
    assert not link.accept(1, b"sealed twice")
    assert link.take() == b"sealed once"


def test_what_a_peer_has_already_is_counted_but_not_sent_again() -> None:
    """After a restart from before it was sent."""
    link = Link("porto", sent=1)
    link.join(Join("aa", 1, 0, 0, 3, 2), 0)
    for _ in range(3):
        link.post(b"")
    assert [seq for seq, _ in link.outbox] == [seq for seq, _ in link.unsent] == [3, 4]

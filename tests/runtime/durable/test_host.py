"""A host writes down what it must, when it must, and refuses what does not fit."""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Checkpoint, Decision, Effect, Message, Pull, Receive, Send, Steps
from lotor.core.errors import JournalError, ProtocolError
from lotor.protocols.party import Party
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable import record
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.host import CHECKPOINT_ROUNDS, Host, first_snapshot
from lotor.runtime.durable.record import RunRecord
from lotor.runtime.wire import encode

ROUNDS = 40


class Order(Message, frozen=True, tag="test/order"):
    body: bytes


class Owner(Party):
    """Each round: get an order, pull, report. Its state is the round."""

    def __init__(self, snapshot: bytes = b"1", arm: int = 0) -> None:
        self._t = int(snapshot)
        self._arm = arm

    def steps(self) -> Steps[str]:
        for t in range(self._t, ROUNDS + 1):
            self._t = t
            yield Checkpoint(lambda: b"%d" % self._t, t)
            yield Receive("boss", Order)
            reward = yield Pull(Decision.named("aa", t, self._arm) if t % 2 else None)
            yield Send("boss", Order(b"%d" % (reward or 0)))
        return "done"


class Bad(Owner):
    def steps(self) -> Steps[str]:
        yield Receive("boss", Order)
        return "never"


class Chatty(Owner):
    def steps(self) -> Steps[str]:
        yield Checkpoint(lambda: b"1")
        yield Send("stranger", Order(b""))
        return "never"


class Foreign(Owner):
    """Yields what some other version may know."""

    def steps(self) -> Steps[str]:
        yield Checkpoint(lambda: b"1")
        yield cast("Effect", Order(b""))
        return "never"


class Failing(Owner):
    """Raises in the middle of its first round."""

    def __init__(self, error: Exception, snapshot: bytes) -> None:
        super().__init__(snapshot)
        self._error = error

    def steps(self) -> Steps[str]:
        yield Checkpoint(lambda: b"1", 1)
        yield Receive("boss", Order)
        raise self._error


class SlowlyFailing(Failing):
    slow = True


@pytest.fixture
def disk() -> Iterator[sqlite3.Connection]:
    connection = new_disk()
    yield connection
    connection.close()


def new_disk() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in record.SCHEMA.split(";"):
        connection.execute(statement)
    RunRecord(connection, "aa").create(first_snapshot(Owner()))
    return connection


class Boss:
    """The other end, by hand."""

    def __init__(
        self,
        disk: sqlite3.Connection,
        rebuild: Callable[[bytes], Owner] = Owner,
        sent: int = 0,
        admits: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.frames: list[RunFrame] = []
        self.record = RunRecord(disk, "aa")
        self.host = Host(
            *("lyon", rebuild, self.record, ["boss"]),
            lambda peer, frame: self.frames.append(frame),
            admits=admits,
        )
        self.seq = self.host.links["boss"].consumed
        self.host.joined("boss", Join("aa", 1, 0, 0, sent, 0))
        self.host.advance()

    def order(self, body: bytes = b"") -> None:
        self.seq += 1
        self.host.received("boss", Data("aa", self.seq, 0, 0, encode(Order(body))))
        self.host.advance()

    def round(self, body: bytes = b"") -> None:
        self.order(body)
        self.host.answered(1.0 if self.host.round % 2 else None)
        self.host.advance()


def saved_round(disk: sqlite3.Connection) -> int:
    (t,) = disk.execute("SELECT round FROM progress").fetchone()
    return int(t)


def test_a_checkpoint_every_so_many_rounds(disk: sqlite3.Connection) -> None:
    boss, saved = Boss(disk), []
    for _ in range(ROUNDS):
        boss.round()
        saved.append(saved_round(disk))
    # The first boundary after the set-up is saved at once.
    assert sorted(set(saved)) == [1, 1 + CHECKPOINT_ROUNDS, ROUNDS]
    assert boss.host.finished
    assert boss.host.output == "done"
    assert not boss.host.drained  # nothing was acknowledged yet (rule 7)


@pytest.mark.parametrize("error", [KeyError("x"), ProtocolError("no")])
@pytest.mark.parametrize("kind", [Failing, SlowlyFailing])
def test_a_party_that_has_failed_never_finishes(
    disk: sqlite3.Connection, error: Exception, kind: type[Failing]
) -> None:
    boss = Boss(disk, partial(kind, error))
    host, failures = boss.host, list[Exception]()
    boss.seq += 1
    host.received("boss", Data("aa", boss.seq, 0, 0, encode(Order(b""))))
    for _ in range(8):  # a slow party needs some of these to come to its failure
        try:
            host.advance()
            if host.background_step is not None:
                host.background_step.run()
        except type(error) as failure:
            failures.append(failure)
    assert len(failures) > 2
    assert set(failures) == {error}
    assert not host.finished
    assert disk.execute("SELECT finished FROM progress").fetchone() == (0,)


def test_a_checkpoint_after_so_many_bytes(
    disk: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_BYTES", 1000)
    boss = Boss(disk)
    for t in range(1, 6):
        boss.round(bytes(400))
        assert saved_round(disk) == (1 if t < 3 else 4)


@given(st.lists(st.integers(0, 300), max_size=ROUNDS), st.integers(1, 20), st.integers(1, 600))
def test_only_what_is_durable_is_acknowledged(sizes: list[int], rounds: int, limit: int) -> None:
    disk = new_disk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
        patch.setattr(host_module, "CHECKPOINT_BYTES", limit)
        boss = Boss(disk)
        for size in sizes:
            boss.round(bytes(size))
            (durable,) = disk.execute("SELECT max(consumed) FROM links").fetchone()
            told = [frame.ack for frame in boss.frames if isinstance(frame, Data | Ack)]
            assert told[-1] <= (durable or 0) == boss.host.links["boss"].ack
            kept = {n for (n,) in disk.execute("SELECT number FROM pulls WHERE answered")}
            assert kept == set(range(1, boss.seq + 1))  # rewards are durable at once
    disk.close()


def test_begin_counts_restarts_which_make_no_journal_newer(disk: sqlite3.Connection) -> None:
    boss = Boss(disk)
    boss.round()
    commits = boss.record.commits
    assert commits == 3  # the checkpoint after the set-up, the intent, the answer
    for restart in range(2, 9):
        again = RunRecord(disk, "aa")
        again.begin()
        assert again.incarnation == restart
        assert again.commits == commits


def test_an_answer_is_taken_once(disk: sqlite3.Connection) -> None:
    boss = Boss(disk)
    with pytest.raises(ProtocolError, match="lyon was given an answer, but has no question"):
        boss.host.answered(1.0)
    boss.order()
    boss.host.answered(1.0)
    rows = disk.execute("SELECT * FROM pulls").fetchall()
    with pytest.raises(ProtocolError, match="lyon was given an answer, but has no question"):
        boss.host.answered(0.0)
    assert disk.execute("SELECT * FROM pulls").fetchall() == rows


def test_an_answer_is_not_asked_for_again_after_a_restart(disk: sqlite3.Connection) -> None:
    Boss(disk).round()
    boss = Boss(disk, sent=1)
    boss.order()
    assert boss.host.asked is None
    assert boss.host.round == 2


def test_a_question_without_an_answer_is_asked_again_as_such(disk: sqlite3.Connection) -> None:
    boss = Boss(disk)
    boss.order()
    assert boss.host.asked is not None
    assert not boss.host.asked.again
    boss = Boss(disk)
    boss.order()
    assert boss.host.asked is not None
    assert boss.host.asked.again
    assert len(disk.execute("SELECT * FROM pulls").fetchall()) == 1


def test_a_recorded_decision_that_differs_is_refused(disk: sqlite3.Connection) -> None:
    Boss(disk).order()
    rows = disk.execute("SELECT * FROM pulls").fetchall()
    boss = Boss(disk, rebuild=lambda snapshot: Owner(snapshot, arm=1))
    with pytest.raises(JournalError, match=r"pull 1 .* another decision than the one that lyon"):
        boss.order()
    assert disk.execute("SELECT * FROM pulls").fetchall() == rows


def test_a_finished_party_is_not_built_again(disk: sqlite3.Connection) -> None:
    boss = Boss(disk)
    for _ in range(ROUNDS):
        boss.round()

    def never(snapshot: bytes) -> Owner:
        raise AssertionError("it is finished")

    again = Boss(disk, rebuild=never, sent=ROUNDS)
    assert again.host.finished
    assert again.host.output == "done"
    resent = [frame.seq for frame in again.frames if isinstance(frame, Data)]
    assert resent == list(range(1, ROUNDS + 1))
    again.host.received("boss", Ack("aa", ROUNDS, 0))
    assert again.host.drained
    again.host.settle()
    assert disk.execute("SELECT * FROM outbox").fetchall() == []


def test_a_party_must_begin_with_a_checkpoint() -> None:
    with pytest.raises(ProtocolError, match="Bad does not begin with a checkpoint"):
        first_snapshot(Bad())


def test_a_party_that_talks_to_strangers_is_stopped(disk: sqlite3.Connection) -> None:
    with pytest.raises(ProtocolError, match="lyon talks to stranger"):
        Boss(disk, rebuild=Chatty)


def test_a_party_that_yields_no_effect_is_named(disk: sqlite3.Connection) -> None:
    with pytest.raises(ProtocolError, match="lyon yielded Order, which is not an effect"):
        Boss(disk, Foreign)


def test_a_run_that_is_not_there_cannot_begin(disk: sqlite3.Connection) -> None:
    with pytest.raises(JournalError, match="no run bb"):
        RunRecord(disk, "bb").begin()


@given(st.binary(max_size=64))
def test_other_bytes_than_a_message_are_refused_by_name(payload: bytes) -> None:
    disk = new_disk()
    boss = Boss(disk)
    before = list(disk.iterdump())
    boss.host.received("boss", Data("aa", 1, 0, 0, payload))
    with pytest.raises(ProtocolError, match="lyon waits for Order from boss"):
        boss.host.advance()
    assert list(disk.iterdump()) == before
    disk.close()


class Impatient(Owner):
    """Hears two peers, one after the other."""

    def steps(self) -> Steps[str]:
        yield Checkpoint(lambda: b"1")
        yield Receive("boss", Order)
        yield Receive("rival", Order)
        return "done"


def test_a_frame_of_a_peer_that_is_not_waited_for_changes_nothing_yet(
    disk: sqlite3.Connection,
) -> None:
    frames: list[tuple[str, RunFrame]] = []
    host = Host(
        *("lyon", Impatient, RunRecord(disk, "aa"), ["boss", "rival"]),
        lambda peer, frame: frames.append((peer, frame)),
    )
    for peer in ("boss", "rival"):
        host.joined(peer, Join("aa", 1, 0, 0, 0, 0))
    order = Data("aa", 1, 0, 0, encode(Order(b"")))
    assert host.received("rival", order)  # nothing is waited for before the start
    host.advance()
    assert host.awaits == "boss"
    assert not host.received("rival", Ack("aa", 0, 5))
    assert host.received("rival", order)  # a duplicate is acknowledged again
    host.advance()
    assert frames == []  # nothing of it is durable yet
    assert host.received("boss", order)
    host.advance()
    assert host.finished
    assert {peer for peer, frame in frames if type(frame) is Ack and frame.ack == 1} == {
        "boss",
        "rival",
    }


def numbers(boss: Boss) -> list[int]:
    return [frame.seq for frame in boss.frames if type(frame) is Data]


def test_what_a_connection_does_not_admit_waits_and_new_messages_behind_it(
    disk: sqlite3.Connection,
) -> None:
    room = 2

    def admits(_peer: str) -> bool:
        return len(numbers(boss)) < room

    boss = Boss(disk, admits=admits)
    for _ in range(4):
        boss.round()
    assert numbers(boss) == [1, 2]
    room = 3
    boss.round()  # its message is the fifth, and the third is the next
    assert numbers(boss) == [1, 2, 3]
    boss.host.received("boss", Ack("aa", 4, 0))  # it has the fourth from an earlier connection
    room = 9
    boss.host.catch_up("boss")
    assert numbers(boss) == [1, 2, 3, 5]


def test_what_waits_for_a_peer_that_leaves_is_sent_again_when_it_joins(
    disk: sqlite3.Connection,
) -> None:
    open_to: set[str] = set()
    boss = Boss(disk, admits=lambda peer: peer in open_to)
    for _ in range(3):
        boss.round()
    boss.host.parted("boss")
    open_to.add("boss")
    boss.host.catch_up("boss")
    boss.round()
    assert numbers(boss) == []
    boss.host.joined("boss", Join("aa", 1, 0, 0, 0, 0))
    assert numbers(boss) == [1, 2, 3, 4]

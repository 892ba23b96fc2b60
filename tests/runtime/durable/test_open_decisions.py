"""Decisions that wait for outcomes: each is told once, by whoever it is, whatever else is told."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from string import printable
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lotor.core.effects import Collect, Decision, KnownOutcome
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.runtime.durable import outcomes
from lotor.runtime.durable.journal import RUNNING, Journal, RunRow
from lotor.runtime.durable.open_decisions import OpenDecisions, read_outcomes
from lotor.runtime.durable.questions import QuestionLog

ROUNDS = st.integers(1, 4)
REWARDS = st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5, 3.0]))
OUTSIDE = st.one_of(st.floats(max_value=-1.001), st.floats(min_value=3.001), st.just(float("nan")))


def named(t: int) -> Decision:
    return Decision.named("aa", t, 0)


class Told(RuleBasedStateMachine):
    """Two processes that write to one journal, and what they should find in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name)
        self.ours, self.theirs = (Journal(path, "owner lyon") for _ in range(2))
        row = RunRow("aa", b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "0", 100)
        self.ours.add(row, b"state")
        self.record = self.ours.record("aa")
        self.inbox = OpenDecisions(self.theirs.database, RewardScale(-1.0, 3.0))
        self.issued: set[int] = set()
        self.told: dict[int, float | None] = {}
        self.counted: dict[int, float | None] = {}
        self.taken: set[int] = set()
        self.t = 100

    @rule(t=ROUNDS)
    def issue(self, t: int) -> None:
        """Also what was issued before: a party that is rebuilt comes to it again."""
        self.record.show(named(t))
        self.issued.add(t)

    @rule(t=ROUNDS, reward=REWARDS)
    def tell(self, t: int, reward: float | None) -> None:
        if t not in self.issued:
            with pytest.raises(InputError, match="there is no decision"):
                self.inbox.tell(named(t).id, reward)
        elif t in self.told and self.told[t] != reward:
            with pytest.raises(InputError, match="another outcome already"):
                self.inbox.tell(named(t).id, reward)
        else:
            assert self.inbox.tell(named(t).id, reward) == (t not in self.told)
            self.told[t] = reward

    @precondition(lambda self: bool(self.told))
    @rule(data=st.data(), reward=REWARDS)
    def tell_again(self, data: st.DataObject, reward: float | None) -> None:
        self.tell(data.draw(st.sampled_from(sorted(self.told))), reward)

    @rule(t=ROUNDS, reward=OUTSIDE)
    def tell_what_cannot_be(self, t: int, reward: float) -> None:
        with pytest.raises(InputError, match="reward_range"):
            self.inbox.tell(named(t).id, reward)

    @rule(rounds=st.lists(ROUNDS, max_size=4), reward=REWARDS)
    def tell_many(self, rounds: list[int], reward: float | None) -> None:
        """All of them, or none."""
        possible = all(t in self.issued and self.told.get(t, reward) == reward for t in rounds)
        outcomes = [(named(t).id, reward) for t in rounds]
        if possible:
            assert self.inbox.tell_all(outcomes) == len(set(rounds) - self.told.keys())
            self.told.update(dict.fromkeys(rounds, reward))
        else:
            with pytest.raises(InputError):
                self.inbox.tell_all(outcomes)

    @rule()
    def collect(self) -> None:
        """What comes is what was told and not counted, and it comes again after a restart."""
        self.t += 1
        arrived = self.record.outcomes.arrived()
        fresh = {t: self.told[t] for t in self.told.keys() - self.counted.keys()}
        assert {one.round: one.reward for one in arrived} == fresh
        assert [one.round for one in arrived] == sorted(fresh)
        asked = Collect({t: named(t) for t in self.issued - self.counted.keys()}, self.t)
        assert self.record.collect(self.t, asked) == arrived
        assert self.record.outcomes.counted(self.t) == arrived
        self.counted.update(fresh)

    @rule(count=st.integers(0, 5))
    def take(self, count: int) -> None:
        free = self.issued - self.told.keys() - self.taken
        taken = {one.round for one in self.inbox.take("a", count=count)}
        assert taken <= free
        assert len(taken) == min(count, len(free))
        self.taken |= taken

    @invariant()
    def what_waits_is_listed(self) -> None:
        assert {one.round for one in self.inbox.waiting()} == self.issued - self.told.keys()

    def teardown(self) -> None:
        self.ours.close()
        self.theirs.close()
        self.folder.cleanup()


TestTold = Told.TestCase
TestTold.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)


def test_an_ended_run_takes_no_outcome(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, "owner lyon")) as journal:
        row = RunRow("aa", b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "0", 100)
        journal.add(row, b"state")
        inbox = OpenDecisions(journal.database, RewardScale())
        for t in (1, 2):
            journal.record("aa").show(Decision.named("aa", t, 0))
        assert inbox.tell("aa/0/1", 0.5)
        journal.end("aa", "stopped", "")
        assert inbox.waiting() == []
        with pytest.raises(InputError, match="too late for decision aa/0/2: run aa is stopped"):
            inbox.tell("aa/0/2", 0.5)
        (left,) = journal.database.execute("SELECT count(reward) FROM decisions").fetchone()
        assert left == 0


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path, "owner lyon")) as journal:
        row = RunRow("aa", b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "0", 10_000)
        journal.add(row, b"state")
        yield journal


def test_what_is_told_at_the_last_moment_counts_or_is_refused(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run would else go on without an outcome that a restart hands to it."""
    record = journal.record("aa")
    for t in (1, 2):
        record.show(named(t))
    with closing(Journal(tmp_path, "owner lyon")) as other:
        clerk = OpenDecisions(other.database, RewardScale())

        def waited(_seconds: float) -> bool:
            """The clerk is faster than the party, which looks at the clock."""
            assert clerk.tell(named(1).id, 0.5)
            return True

        monkeypatch.setattr(record.outcomes, "waited", waited)
        log = QuestionLog("lyon", record, record.begin(), alike=False)
        asked = Collect({t: named(t) for t in (1, 2)}, 9, last=True, within=1.0)
        assert log.collect(asked) == record.outcomes.counted(9) == (KnownOutcome(1, 0.5),)
        assert clerk.waiting() == []
        with pytest.raises(InputError, match="run aa has settled without it"):
            clerk.tell(named(2).id, 0.5)
    again = QuestionLog("lyon", record, record.begin(), alike=False)
    assert again.collect(asked) == (KnownOutcome(1, 0.5),)


def test_a_restart_does_not_begin_the_time_to_settle_anew(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e9
    monkeypatch.setattr(outcomes, "time", SimpleNamespace(time=lambda: now))
    assert not journal.record("aa").outcomes.waited(90.0)
    now += 60
    with closing(Journal(tmp_path, "owner lyon")) as restarted:
        assert not restarted.record("aa").outcomes.waited(90.0)
        now += 31
        assert restarted.record("aa").outcomes.waited(90.0)
        assert not restarted.record("bb").outcomes.waited(90.0)


def test_looking_for_outcomes_is_as_much_work_however_often_this_party_was_pulled(
    journal: Journal,
) -> None:
    record, inbox = journal.record("aa"), OpenDecisions(journal.database, RewardScale())

    def steps_of(look: Callable[[], object]) -> int:
        """How many steps SQLite takes."""
        steps = count()
        journal.database.set_progress_handler(lambda: 0 * next(steps), 1)
        look()
        journal.database.set_progress_handler(None, 0)
        return next(steps)

    def work() -> list[int]:
        return [steps_of(look) for look in (record.outcomes.arrived, inbox.waiting)]

    once = work()
    with journal.transaction():
        for t in range(1, 2_000):
            record.outcomes.issue(named(t))
        journal.database.execute("UPDATE decisions SET told = 1, counted = 1")
    assert work() == once


def test_what_is_only_carried_out_here_has_no_outcome(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, "actor ward")) as journal:
        row = RunRow("aa", b"", b"", "actor", RUNNING, "", 1.0, 1.0, "0", 100)
        journal.add(row, b"state")
        inbox = OpenDecisions(journal.database, RewardScale())
        journal.record("aa").show(Decision.of_step("aa", 1, 2), paid_here=False)
        journal.record("aa").show(Decision.hidden("aa", 2))
        act, hidden = inbox.waiting()
        assert (act.arm, act.paid_here, hidden.arm, hidden.paid_here) == (2, False, None, True)
        with pytest.raises(InputError, match="only carried out here"):
            inbox.tell(act.id, 0.5)
        assert [one.id for one in inbox.take()] == [act.id]
        inbox.give_back(act.id)
        journal.record("aa").show(Decision.of_step("aa", 3, 2), paid_here=False)
        assert [one.id for one in inbox.take()] == [act.id]
        journal.finish("aa")
        assert [one.id for one in inbox.take(count=9)] == ["aa/3"]  # nobody has done it yet
        assert inbox.waiting() == []


@given(st.dictionaries(st.from_regex(r"[0-9a-f/]{1,20}", fullmatch=True), REWARDS, max_size=8))
def test_a_csv_file_of_outcomes_is_read_as_it_was_written(told: dict[str, float | None]) -> None:
    lines = [f"{name}, {'' if reward is None else reward}" for name, reward in told.items()]
    assert dict(read_outcomes(["decision,reward", *lines, ""], "f")) == told
    turned = [f"{'' if reward is None else reward},{name}" for name, reward in told.items()]
    assert dict(read_outcomes(["reward, decision", *turned], "f")) == told


@given(st.text(printable, max_size=60))
def test_any_other_file_is_refused_without_showing_what_is_in_it(text: str) -> None:
    with pytest.raises(InputError, match="does not begin with the line"):
        read_outcomes(text.splitlines(), "outcomes.csv")
    endless = f"secret {'x' * 200_000},0.5"
    for line in ("aa/0/1,a secret", "aa/0/1", "aa/0/1,0.5,0.25", endless):
        with pytest.raises(InputError, match=r"line 3 of outcomes\.csv") as caught:
            read_outcomes(["decision,reward", "aa/0/1,0.5", line], "outcomes.csv")
        assert "secret" not in str(caught.value)

"""What a party carries out or observes is asked for, and left in doubt, as its pulls are."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from lotor.core.effects import Act, Checkpoint, Decision, Observe, Pull, Steps
from lotor.core.errors import InputError, PullError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.party import Party
from lotor.runtime.daemon.answerer import Answerer
from lotor.runtime.daemon.clock import SystemClock
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.function_caller import AnswerCheck, FunctionCaller
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.resources import nothing, reward_in, so_many_features
from lotor.runtime.durable import record
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.record import Answer, RunRecord

HIDDEN, CHOSEN = Decision.hidden("run", 3), Decision.of_step("run", 3, 1)
OBSERVE, ACT, PULL = Observe(HIDDEN, (2, 4)), Act(CHOSEN), Pull(HIDDEN)
OWNER = OwnerTable(
    pull="w:pull", act="w:act", features="w:features", dimensions=2, reward_range=(-1.0, 1.0)
)


class Once(Party):
    """Asks the world one thing and hands the answer back."""

    def __init__(self, effect: Pull | Act | Observe) -> None:
        self._effect = effect

    def steps(self) -> Steps[object]:
        yield Checkpoint(lambda: b"state")
        answer = yield self._effect
        return ["answered", answer]


@pytest.fixture
def disk() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        for statement in record.SCHEMA.split(";"):
            database.execute(statement)
        RunRecord(database, "run").create(b"state")
        yield database


def start(
    disk: sqlite3.Connection,
    effect: Pull | Act | Observe,
    function: Callable[[Decision], object],
    owner: OwnerTable = OWNER,
) -> tuple[Host, Answerer]:
    host = Host("p", lambda _: Once(effect), RunRecord(disk, "run"), [], lambda *_: None)
    checks: dict[type[Pull | Act | Observe], tuple[str, AnswerCheck]] = {
        Pull: ("pull", reward_in(RewardScale(-1.0, 1.0))),
        Act: ("act", nothing),
        Observe: ("features", so_many_features(2)),
    }
    askers = {kind: FunctionCaller(function, check, key) for kind, (key, check) in checks.items()}
    log = RunLog(logging.getLogger("lotor.test"), "run")
    host.advance()
    return host, Answerer(host, owner, askers, SystemClock(), log)


def answered(host: Host, answering: Answerer) -> bool:
    async def scenario() -> bool:
        assert host.asked is not None
        return await answering.answer(host.asked)

    done = asyncio.run(scenario())
    host.advance()
    return done


@pytest.mark.parametrize(
    ("effect", "says", "answer"),
    [
        (PULL, 0.5, 0.5),
        (ACT, "whatever", None),
        (OBSERVE, [0.25, -0.5], (0.25, -0.5)),
        (OBSERVE, (1, 0), (1.0, 0.0)),
    ],
)
def test_each_kind_has_its_answer(
    disk: sqlite3.Connection, effect: Pull | Act | Observe, says: object, answer: Answer
) -> None:
    asked = []

    def function(decision: Decision) -> object:
        asked.append(decision)
        return says

    host, answering = start(disk, effect, function)
    assert answered(host, answering)
    assert host.output == ["answered", answer]
    assert asked == [effect.decision]
    # What was answered is not asked for again.
    disk.execute("UPDATE progress SET snapshot = ?, finished = 0, pulls = 0", (b"state",))
    again, _ = start(disk, effect, function)
    assert again.asked is None
    assert again.output == ["answered", answer]
    assert len(asked) == 1


@pytest.mark.parametrize(
    "bad", [None, 0.5, "0.1", [0.1], [0.1, 0.2, 0.3], [0.8, 0.8], [float("nan"), 0], ["a", 0]]
)
def test_features_that_are_none_leave_it_in_doubt(disk: sqlite3.Connection, bad: object) -> None:
    host, answering = start(disk, OBSERVE, lambda _: bad)
    assert not answered(host, answering)
    assert "features of round 3 are" in answering.trouble
    assert "decision run/3" in answering.trouble
    assert "--features -` or `--again`" in answering.trouble
    assert "0.8" not in answering.trouble


def broken(decision: Decision) -> object:
    raise OSError("secret")


def left_in_doubt(disk: sqlite3.Connection, effect: Pull | Act | Observe) -> tuple[Host, Answerer]:
    host, answering = start(disk, effect, broken)
    assert not answered(host, answering)
    assert "secret" not in answering.trouble
    assert "OSError" in answering.trouble
    return host, answering


@pytest.mark.parametrize(
    ("effect", "verdict", "answer"),
    [
        (PULL, Resolve("run/3", 0.75), 0.75),
        (PULL, Resolve("run/3", lost=True), -1.0),
        (ACT, Resolve("run/3", lost=True), None),
        (OBSERVE, Resolve("run/3", features=(0.5, 0.25)), (0.5, 0.25)),
    ],
)
def test_a_person_says_what_became_of_it(
    disk: sqlite3.Connection, effect: Pull | Act | Observe, verdict: Resolve, answer: Answer
) -> None:
    host, answering = left_in_doubt(disk, effect)
    assert host.asked is not None
    answering.resolved(host.asked, verdict)
    host.advance()
    assert host.output == ["answered", answer]
    assert answering.trouble == ""


@pytest.mark.parametrize(
    ("effect", "verdict", "way_out"),
    [
        (PULL, Resolve("run/3", features=(0.5, 0.25)), "--reward -"),
        (ACT, Resolve("run/3", 0.75), "--lost"),
        (OBSERVE, Resolve("run/3", lost=True), "--features"),
        (OBSERVE, Resolve("run/3", features=(0.5,)), "are not 2 numbers"),
    ],
)
def test_a_verdict_that_does_not_fit_changes_nothing(
    disk: sqlite3.Connection, effect: Pull | Act | Observe, verdict: Resolve, way_out: str
) -> None:
    host, answering = left_in_doubt(disk, effect)
    assert host.asked is not None
    before = answering.trouble
    with pytest.raises((InputError, PullError), match=way_out):
        answering.resolved(host.asked, verdict)
    assert host.asked is not None
    assert answering.trouble == before


@pytest.mark.parametrize("effect", [PULL, ACT, OBSERVE])
def test_again_asks_again(disk: sqlite3.Connection, effect: Pull | Act | Observe) -> None:
    start(disk, effect, broken)[0].close()  # the process dies between asking and the answer
    says = {Pull: 0.5, Act: None, Observe: [0.5, 0.5]}[type(effect)]
    host, answering = start(disk, effect, lambda _: says)
    assert not answered(host, answering)
    assert "stopped between asking" in answering.trouble
    assert host.asked is not None
    answering.resolved(host.asked, Resolve("run/3"))
    assert answered(host, answering)
    assert host.finished


def test_what_is_lacking_is_said(disk: sqlite3.Connection) -> None:
    host, answering = start(disk, OBSERVE, broken)
    assert host.asked is not None
    assert answering.lack(host.asked) is None
    few = OwnerTable(features="w:features", dimensions=5)
    assert (
        Answerer(host, few, answering._callers, SystemClock(), answering._log).lack(host.asked)
        == "is asked for 2 features, but its party.toml has owner.dimensions = 5"
    )
    bare = Answerer(host, OWNER, {}, SystemClock(), answering._log)
    assert "has no owner.features" in str(bare.lack(host.asked))

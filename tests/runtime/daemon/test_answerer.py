"""An owner's pulls: never twice unless they may be, and in doubt a person decides."""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from lotor.core.effects import Checkpoint, Decision, Pull, Steps
from lotor.core.errors import PullError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.party import Party
from lotor.runtime.daemon import function_caller
from lotor.runtime.daemon.answerer import Answerer
from lotor.runtime.daemon.clock import Alarm
from lotor.runtime.daemon.commands import Resolve
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.function_caller import FunctionCaller
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.resources import reward_in
from lotor.runtime.durable import record
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.record import RunRecord

ROUNDS = 6


class Puller(Party):
    """Pulls in even rounds, and nothing in odd ones."""

    def steps(self) -> Steps[list[float | None]]:
        rewards = []
        yield Checkpoint(lambda: b"state")
        for t in range(ROUNDS):
            decision = Decision.named("run", t, 0) if t % 2 == 0 else None
            rewards.append((yield Pull(decision)))
        return rewards


@dataclass
class FakeClock:
    """Time passes only when somebody sleeps."""

    time: float = 100.0
    sleeps: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds

    def call_at(self, moment: float, then: Callable[[], None]) -> Alarm:
        raise AssertionError("nobody waits here")


@dataclass
class Bench:
    disk: sqlite3.Connection
    clock: FakeClock
    owner: OwnerTable
    pull: Callable[[Decision], float | Awaitable[float]]

    def start(self) -> tuple[Host, Answerer]:
        host = Host("lyon", lambda snapshot: Puller(), RunRecord(self.disk, "run"), [], _no_send)
        log = RunLog(logging.getLogger("lotor.test"), "run")
        asker = FunctionCaller(self.pull, reward_in(RewardScale()))
        return host, Answerer(host, self.owner, {Pull: asker}, self.clock, log)

    async def play(self) -> None:
        """Answer all questions, to the end."""
        host, answering = self.start()
        host.advance()
        while host.asked is not None:
            assert await answering.answer(host.asked)
            host.advance()
        assert host.finished


def _no_send(peer: str, frame: object) -> None:
    raise AssertionError("nobody to send to")


def bench(
    pull: Callable[[Decision], float | Awaitable[float]],
    *,
    tick: float = 0.0,
    repeatable: bool = False,
) -> Bench:
    disk = sqlite3.connect(":memory:", isolation_level=None)
    for statement in record.SCHEMA.split(";"):
        disk.execute(statement)
    RunRecord(disk, "run").create(b"state", repeatable=repeatable)
    owner = OwnerTable(pull="world:pull", tick=tick, repeatable=repeatable)
    return Bench(disk, FakeClock(), owner, pull)


def test_a_pull_slower_than_the_tick_is_reported_as_a_leak(
    caplog: pytest.LogCaptureFixture,
) -> None:
    at = bench(lambda decision: 1.0, tick=0.5)
    host, answering = at.start()
    host.advance()
    assert host.asked is not None
    with caplog.at_level(logging.WARNING, "lotor"):
        answering.report_late(host.asked, 3, 0.9)
    assert answering.late_pulls == 1
    assert "a pull took 0.900 s, longer than the tick of 0.5 s" in caplog.text
    assert "can tell that this party was pulled" in caplog.text
    host.close()
    at.disk.close()


def test_a_round_without_a_pull_writes_as_often() -> None:
    """Else the disk's timing would show who was pulled."""
    at = bench(lambda decision: 1.0)
    host, answering = at.start()
    commits = []
    host.advance()

    async def scenario() -> None:
        while host.asked is not None:
            before = host._record.commits
            await answering.answer(host.asked)
            host.advance()
            commits.append(host._record.commits - before)

    asyncio.run(scenario())
    # The intent of the next round is written by `advance`, and the last one ends with a checkpoint.
    assert commits == [2] * ROUNDS
    at.disk.close()


def test_what_was_asked_before_a_crash_is_in_doubt_until_a_person_decides() -> None:
    asked = []

    def pull(decision: Decision) -> float:
        asked.append(decision.id)
        return 1.0

    at = bench(pull)
    host, _ = at.start()
    host.advance()  # the intent is written, and the process dies
    host.close()

    async def scenario() -> None:
        host, answering = at.start()
        host.advance()
        assert host.asked is not None
        assert not await answering.answer(host.asked)
        assert answering.doubt is not None
        assert answering.doubt.id == "run/0/0"
        assert "lotor runs resolve run run/0/0 --reward -" in answering.trouble
        assert asked == []
        answering.resolved(host.asked, Resolve("run/0/0", 0.5))
        assert answering.trouble == ""
        host.advance()
        assert host.asked is not None
        assert host.asked.number == 2

    asyncio.run(scenario())
    rewards = at.disk.execute("SELECT reward FROM pulls WHERE answered").fetchall()
    assert rewards == [(0.5,)]
    at.disk.close()


@pytest.mark.parametrize("repeatable", [True, False])
def test_what_may_be_repeated_is_asked_again(repeatable: bool) -> None:
    asked = []

    def pull(decision: Decision) -> float:
        asked.append(decision.id)
        return 1.0

    at = bench(pull, repeatable=repeatable)
    host, _ = at.start()
    host.advance()
    host.close()

    async def scenario() -> None:
        host, answering = at.start()
        host.advance()
        assert host.asked is not None
        if not repeatable:
            assert not await answering.answer(host.asked)
            assert answering.doubt is not None
            answering.resolved(host.asked, Resolve("run/0/0"))  # `--again`
        assert await answering.answer(host.asked)
        assert asked == ["run/0/0"]

    asyncio.run(scenario())
    at.disk.close()


def test_a_failing_pull_is_tried_again_or_left_in_doubt() -> None:
    failures = iter([True, True, False, False, False])

    def pull(decision: Decision) -> float:
        if next(failures):
            raise PullError("the database is away")
        return 1.0

    at = bench(pull, repeatable=True)
    asyncio.run(at.play())
    assert at.clock.sleeps == [1.0, 2.0]
    at.disk.close()

    at = bench(lambda decision: 1 / 0)

    async def scenario() -> None:
        host, answering = at.start()
        host.advance()
        assert host.asked is not None
        assert not await answering.answer(host.asked)
        assert "ZeroDivisionError" in answering.trouble

    asyncio.run(scenario())
    at.disk.close()


def test_without_a_tick_a_quick_function_is_answered_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(function_caller, "QUICK", 60.0)
    asked = []

    def pull(decision: Decision) -> float:
        asked.append(decision.round)
        return 1.0

    async def scenario(at: Bench) -> list[bool]:
        host, answering = at.start()
        host.advance()
        at_once = []
        while host.asked is not None:
            at_once.append(answering.answer_at_once(host.asked))
            if not at_once[-1]:
                assert await answering.answer(host.asked)
            host.advance()
        return at_once

    at = bench(pull)
    assert asyncio.run(scenario(at)) == [False, *[True] * (ROUNDS - 1)]
    assert asked == list(range(0, ROUNDS, 2))
    at.disk.close()

    at = bench(pull, tick=0.5)
    assert asyncio.run(scenario(at)) == [False] * ROUNDS
    at.disk.close()


def test_a_quick_function_is_not_asked_again_what_may_have_been_carried_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(function_caller, "QUICK", 60.0)
    asked = []

    def pull(decision: Decision) -> float:
        asked.append(decision.round)
        return 1.0

    at = bench(pull)

    async def scenario() -> None:
        host, answering = at.start()
        host.advance()
        for _ in range(2):
            assert host.asked is not None
            assert await answering.answer(host.asked)
            host.advance()  # the intent of the third is written, and the process dies
        host.close()
        again, _ = at.start()
        again.advance()
        assert again.asked is not None
        assert again.asked.again
        answering._host = again
        assert not answering.answer_at_once(again.asked)

    asyncio.run(scenario())
    assert asked == [0]
    at.disk.close()

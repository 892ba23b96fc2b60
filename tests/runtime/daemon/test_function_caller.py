"""A party's own function is called once, in one thread, and holds nobody up."""

import asyncio
import threading
from asyncio import CancelledError
from collections.abc import Awaitable
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import DataError, PullError
from lotor.core.fixed_point import RewardScale
from lotor.runtime.daemon import function_caller
from lotor.runtime.daemon.function_caller import FunctionCaller
from lotor.runtime.daemon.party_functions import OwnFunction
from lotor.runtime.daemon.resources import reward_in
from lotor.runtime.durable.record import Answer

DECISION = Decision.named("run", 4, 1)


def answer(pull: OwnFunction, scale: RewardScale | None = None) -> Answer:
    async def asked() -> Answer:
        asker = FunctionCaller(pull, reward_in(scale or RewardScale()))
        try:
            return await asker.call(DECISION)
        finally:
            asker.close()

    return asyncio.run(asked())


def test_plain_functions_are_called_in_one_other_thread_one_at_a_time() -> None:
    threads: set[int] = set()
    busy = threading.Lock()

    def pull(decision: Decision) -> float:
        assert busy.acquire(blocking=False)
        threads.add(threading.get_ident())
        busy.release()
        return 0.5

    async def asked() -> list[Answer]:
        asker = FunctionCaller(pull, reward_in(RewardScale()))
        rewards = await asyncio.gather(*(asker.call(DECISION) for _ in range(50)))
        asker.close()
        return rewards

    assert asyncio.run(asked()) == [0.5] * 50
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_the_loop_goes_on_while_a_pull_is_slow() -> None:
    go_on = threading.Event()

    def pull(decision: Decision) -> float:
        assert go_on.wait(timeout=60)
        return 0.5

    async def asked() -> Answer:
        asker = FunctionCaller(pull, reward_in(RewardScale()))
        question = asyncio.create_task(asker.call(DECISION))
        await asyncio.sleep(0)
        go_on.set()
        reward = await question
        asker.close()
        return reward

    assert asyncio.run(asked()) == 0.5


def test_a_pull_that_hangs_can_be_left() -> None:
    release = threading.Event()

    def pull(decision: Decision) -> float:
        release.wait(timeout=60)
        return 0.5

    async def asked() -> None:
        asker = FunctionCaller(pull, reward_in(RewardScale()))
        question = asyncio.create_task(asker.call(DECISION))
        await asyncio.sleep(0.01)
        asker.close()
        question.cancel()
        with pytest.raises(CancelledError):
            await question
        with pytest.raises(PullError, match="after the end"):
            await asker.call(DECISION)

    asyncio.run(asked())
    release.set()


def test_a_call_that_was_cancelled_before_its_turn_is_never_made() -> None:
    release, asked_for = threading.Event(), list[int]()

    def pull(decision: Decision) -> float:
        asked_for.append(decision.round)
        assert release.wait(timeout=60)
        return 0.5

    async def asked() -> None:
        asker = FunctionCaller(pull, reward_in(RewardScale()))
        calls = [asyncio.create_task(asker.call(Decision.named("run", t, 1))) for t in (1, 2, 3)]
        await asyncio.sleep(0)
        calls[1].cancel()
        await asyncio.wait(calls[1:2])
        release.set()
        assert await calls[0] == await calls[2] == 0.5
        asker.close()

    asyncio.run(asked())
    assert asked_for == [1, 3]


class AsyncWard:
    async def __call__(self, decision: Decision) -> float:
        assert threading.current_thread() is threading.main_thread()
        await asyncio.sleep(0)
        return 0.75


def test_what_is_awaitable_is_awaited_in_the_loop() -> None:
    ward = AsyncWard()

    def disguised(decision: Decision) -> Awaitable[float]:
        return ward(decision)

    assert answer(ward) == 0.75
    assert answer(ward.__call__) == 0.75
    assert answer(disguised) == 0.75


@given(reward=st.floats(-5, 20))
def test_a_reward_in_the_range_is_handed_on(reward: float) -> None:
    assert answer(lambda _: reward, RewardScale(-5, 20)) == reward


@pytest.mark.parametrize("reward", [nan, inf, -0.125, 1.125, "0.5", None, [0.5], b"1"])
def test_another_answer_is_refused_and_not_shown(reward: float) -> None:
    with pytest.raises(PullError, match=r"arm 1 in round 4 .*decision run/1/4") as caught:
        answer(lambda _: reward)
    assert repr(reward) not in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [OSError("secret 0.25"), StopIteration(0.25), CancelledError(), SystemExit(1), KeyError(0.25)],
)
def test_an_error_of_the_function_names_the_decision(error: BaseException) -> None:
    def pull(decision: Decision) -> float:
        raise error

    with pytest.raises(PullError, match=f"{type(error).__name__}; decision run/1/4") as caught:
        answer(pull)
    assert "0.25" not in str(caught.value)


def test_an_error_of_an_async_function_names_the_decision() -> None:
    async def pull(decision: Decision) -> float:
        raise OSError("secret")

    with pytest.raises(PullError, match="OSError; decision run/1/4"):
        answer(pull)


def test_an_error_that_explains_itself_is_quoted() -> None:
    def pull(decision: Decision) -> float:
        raise DataError("used up")

    async def slow(decision: Decision) -> float:
        raise DataError("used up")

    for each in (pull, slow):
        with pytest.raises(PullError, match=r"decision run/1/4\): used up"):
            answer(each)


class Ward:
    """A plain function that is quick, until it is told to be otherwise."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.threads: set[int] = set()
        self.go_on = threading.Event()
        self.go_on.set()
        self.broken = False

    def pull(self, decision: Decision) -> float:
        self.asked.append(decision.round)
        self.threads.add(threading.get_ident())
        assert self.go_on.wait(timeout=60)
        if self.broken:
            raise ValueError("no such patient")
        return decision.round / 10


def quick_after(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function_caller, "QUICK", seconds)


async def asked_once(ward: Ward) -> FunctionCaller:
    caller = FunctionCaller(ward.pull, reward_in(RewardScale()))
    assert not caller.begin(Decision.named("run", 1, 0))  # nobody knows yet whether it is quick
    assert ward.asked == []
    assert await caller.call(Decision.named("run", 1, 0)) == 0.1
    return caller


def test_a_quick_function_is_waited_for_in_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_after(60, monkeypatch)
    ward = Ward()

    async def asked() -> None:
        caller = await asked_once(ward)
        for t in (2, 3, 4):
            assert caller.begin(Decision.named("run", t, 0))
            assert caller.ready == t / 10
        caller.close()
        assert not caller.begin(DECISION)

    asyncio.run(asked())
    assert ward.asked == [1, 2, 3, 4]
    assert len(ward.threads) == 1
    assert threading.get_ident() not in ward.threads


def test_a_slow_function_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_after(0, monkeypatch)
    ward = Ward()

    async def asked() -> None:
        caller = await asked_once(ward)
        assert not caller.begin(DECISION)
        caller.close()

    asyncio.run(asked())
    assert ward.asked == [1]


def test_a_function_that_turns_slow_is_still_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_after(60, monkeypatch)
    ward = Ward()

    async def asked() -> list[Answer]:
        caller = await asked_once(ward)
        ward.go_on.clear()
        quick_after(0, monkeypatch)
        assert not caller.begin(DECISION)
        other = Decision.named("other", 5, 1)
        assert not caller.begin(other)  # of another run, while the function is busy
        ward.go_on.set()
        answers = await asyncio.gather(caller.call(other), caller.call(DECISION))
        caller.close()
        return list(answers)

    assert asyncio.run(asked()) == [0.5, 0.4]
    assert sorted(ward.asked) == [1, 4, 5]


def test_a_quick_function_that_fails_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_after(60, monkeypatch)
    ward = Ward()

    async def asked() -> None:
        caller = await asked_once(ward)
        ward.broken = True
        assert not caller.begin(DECISION)
        with pytest.raises(PullError, match=r"failed \(ValueError"):
            await caller.call(DECISION)
        caller.close()

    asyncio.run(asked())
    assert ward.asked == [1, 4]


def test_an_unusable_quick_answer_is_refused_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_after(60, monkeypatch)
    ward = Ward()

    async def asked() -> None:
        caller = await asked_once(ward)
        outside = Decision.named("run", 11, 0)
        assert not caller.begin(outside)
        with pytest.raises(PullError, match="reward_range"):
            await caller.call(outside)
        caller.close()

    asyncio.run(asked())
    assert ward.asked == [1, 11]

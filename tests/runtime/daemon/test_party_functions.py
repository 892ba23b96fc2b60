import asyncio
import sys
import threading
from asyncio import CancelledError
from collections.abc import Awaitable, Iterator
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import ConfigError, DataError, PullError
from lotor.core.fixed_point import RewardScale
from lotor.runtime.daemon import party_functions
from lotor.runtime.daemon.party_functions import FunctionCaller, OwnFunction, load_function
from lotor.runtime.daemon.resources import reward_in
from lotor.runtime.durable.record import Answer

DECISION = Decision.named("run", 4, 1)


@pytest.fixture(autouse=True)
def _untouched_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def kit(folder: Path, text: str, name: str = "ward_of_tests.py") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def answer(pull: OwnFunction, scale: RewardScale | None = None) -> Answer:
    async def asked() -> Answer:
        asker = FunctionCaller(pull, reward_in(scale or RewardScale()))
        try:
            return await asker.call(DECISION)
        finally:
            asker.close()

    return asyncio.run(asked())


def test_functions_methods_and_objects_are_found(tmp_path: Path) -> None:
    kit(
        tmp_path,
        "def pull(decision): return decision.round / 10\n"
        "class Ward:\n"
        "    def __call__(self, decision): return 0.5\n"
        "    @staticmethod\n"
        "    def treat(decision): return 0.25\n"
        "ward = Ward()\n",
    )
    assert answer(load_function("ward_of_tests:pull", tmp_path)) == 0.4
    assert answer(load_function("ward_of_tests:ward", tmp_path)) == 0.5
    assert answer(load_function("ward_of_tests:Ward.treat", tmp_path)) == 0.25


def test_a_package_and_its_late_imports_are_found(tmp_path: Path) -> None:
    kit(tmp_path, "", "clinic_of_tests/__init__.py")
    kit(tmp_path, "reward = 0.75", "clinic_of_tests/data.py")
    kit(
        tmp_path,
        "def pull(decision):\n    from clinic_of_tests.data import reward\n    return reward\n",
        "clinic_of_tests/ward.py",
    )
    assert answer(load_function("clinic_of_tests.ward:pull", tmp_path)) == 0.75


def test_each_kit_gives_its_own_module(tmp_path: Path) -> None:
    first = kit(tmp_path / "a", "def pull(decision): return 0.1")
    second = kit(tmp_path / "b", "def pull(decision): return 0.2")
    pulls = [load_function("ward_of_tests:pull", each) for each in (first, second, second, first)]
    assert [answer(pull) for pull in pulls] == [0.1, 0.2, 0.2, 0.1]
    assert pulls[1] is pulls[2]


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        ("ward_of_tests", "", "must be written as"),
        ("ward_of_tests:", "", "must be written as"),
        ("ward of:pull", "", "must be written as"),
        ("missing_ward:pull", "", r"there is no module missing_ward: put missing_ward\.py into"),
        ("ward_of_tests.inner:pull", "", "there is no module ward_of_tests.inner"),
        ("ward_of_tests:pull", "", "has no pull"),
        ("ward_of_tests:pull.deep", "def pull(d): return 0", r"has no pull\.deep"),
        ("ward_of_tests:pull", "import missing_library", "raised ModuleNotFoundError: No module"),
        ("ward_of_tests:pull", "1 / 0", "raised ZeroDivisionError: division by zero"),
        ("ward_of_tests:pull", "def pull(:", "raised SyntaxError"),
        ("ward_of_tests:pull", "import sys; sys.exit('no')", "raised SystemExit: no"),
        ("ward_of_tests:pull", "pull = 0.5", "is of type float: name a function"),
        ("ward_of_tests:pull", "class pull: pass", "is a class: name a function"),
    ],
)
def test_what_cannot_be_loaded_is_explained(
    tmp_path: Path, spec: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_function(spec, kit(tmp_path, text))


def test_a_folder_without_code_has_no_function(tmp_path: Path) -> None:
    (tmp_path / "state_of_tests").mkdir()
    with pytest.raises(ConfigError, match="has no pull"):
        load_function("state_of_tests:pull", tmp_path)


def test_a_module_with_the_name_of_one_in_use_is_refused(tmp_path: Path) -> None:
    kit(tmp_path, "def pull(decision): return 0", "json.py")
    with pytest.raises(ConfigError, match=r"json\.py has the name of a module that is in use"):
        load_function("json:pull", tmp_path)
    assert "json" in sys.modules


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
    monkeypatch.setattr(party_functions, "QUICK", seconds)


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

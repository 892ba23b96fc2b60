"""Calling a party's own function, which may be slow, without holding up the party."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from inspect import isawaitable, iscoroutinefunction
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import TypeAlias

from lotor.core.effects import Decision
from lotor.core.errors import LotorError, PullError
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.party_functions import OwnFunction
from lotor.runtime.durable.record import Answer
from lotor.runtime.pulls import PULL, failed, question

# What becomes of a function's answer: checked, or a PullError.
AnswerCheck: TypeAlias = Callable[[Decision, object], Answer]

# So many seconds a plain function may take where the party waits for it.
QUICK = 0.002
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


async def until_answered(
    ask: Callable[[], Awaitable[Answer]], clock: Clock, report: Callable[[str], None]
) -> Answer:
    """Ask again and again, with longer and longer pauses, until there is an answer."""
    pause = FIRST_PAUSE
    while True:
        try:
            return await ask()
        except PullError as error:
            report(f"{error}; asked again in {pause:g} s")
        await clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


class FunctionCaller:
    """Calls one function, which may be slow, without holding up the event loop.

    A plain function is always called in one and the same thread, so it need not be thread-safe;
    an awaitable is awaited in the loop. As long as a plain function is quick, `begin` waits for
    it: to be woken by its thread later would cost several times as much.
    """

    def __init__(self, function: OwnFunction, check: AnswerCheck, key: str = PULL) -> None:
        self._function = function
        self._check = check
        self._key = key
        self._is_async = iscoroutinefunction(function) or iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        )
        self._worker: _Worker | None = None
        self._begun: dict[str, _Call] = {}
        self._closed = False
        self.ready: Answer = None

    def begin(self, decision: Decision) -> bool:
        """Ask a function that was quick the last time; whether its checked answer is `ready`.

        If not, `call` must follow: it goes on with this very question, also where it failed.
        """
        worker = self._worker
        if worker is None or not worker.quick or self._closed:
            return False
        begun = self._begun[decision.id] = worker.ask(decision)
        try:
            answer = begun.wait(QUICK)
            if isinstance(answer, _Raised) or isawaitable(answer):
                return False
            self.ready = self._check(decision, answer)
        except Exception:
            return False
        del self._begun[decision.id]
        return True

    async def call(self, decision: Decision) -> Answer:
        """The checked answer, or a PullError that names the decision and never the answer."""
        if self._closed:
            raise PullError(f"decision {decision.id} was asked for after the end: ask it again")
        try:
            return self._check(decision, await self._answer(decision))
        except PullError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # The function waited for something that was cancelled.
            raise failed(decision, error, self._key) from error
        except LotorError as error:
            # Such a message holds no secret and says what to do; the party may ask again later.
            raise PullError(
                f"{question(self._key, decision)} failed (decision {decision.id}): {error}"
            ) from error
        except (Exception, SystemExit) as error:
            raise failed(decision, error, self._key) from error

    async def _answer(self, decision: Decision) -> object:
        if self._is_async:
            answer = self._function(decision)
        else:
            self._worker = self._worker or _Worker(self._function)
            begun = self._begun.pop(decision.id, None) or self._worker.ask(decision)
            answer = await asyncio.wrap_future(begun.later())
            if isinstance(answer, _Raised):
                if isinstance(answer.error, LotorError):
                    raise answer.error
                raise failed(decision, answer.error, self._key) from answer.error
        return await answer if isawaitable(answer) else answer

    def close(self) -> None:
        """End the thread without waiting for a call that is under way."""
        self._closed = True
        if self._worker is not None:
            self._worker.close()


class _Raised:
    """An error as a value: StopIteration and CancelledError mean something else to a future."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Call:
    """One call in a function's thread: `wait` a moment for its answer, or await it `later`.

    A future alone would do, but waiting for one takes twice the CPU time.
    """

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self._answers: SimpleQueue[object] = SimpleQueue()
        self._later: Future[object] | None = None

    @property
    def cancelled(self) -> bool:
        return self._later is not None and self._later.cancelled()

    def wait(self, seconds: float) -> object:
        """The answer, which stays for `later`; queue.Empty if it takes longer."""
        answer = self._answers.get(timeout=seconds)
        self._answers.put(answer)
        return answer

    def later(self) -> Future[object]:
        """A future that gets the answer, which may be there already."""
        self._later = Future()
        self._pass_on()
        return self._later

    def answered(self, answer: object) -> None:
        """The function has returned; called in its thread."""
        self._answers.put(answer)
        self._pass_on()

    def _pass_on(self) -> None:
        """Both threads call this, and the one that finds the answer hands it to the future."""
        if self._later is None:
            return
        try:
            answer = self._answers.get_nowait()
        except Empty:
            return
        if self._later.set_running_or_notify_cancel():
            self._later.set_result(answer)


class _Worker:
    """One thread that calls one function; `quick` while it is free, if its last call was short.

    A thread of the standard executors would keep the process alive until a hanging pull answers.
    """

    def __init__(self, function: OwnFunction) -> None:
        self.quick = False
        self._function = function
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        threading.Thread(target=self._run, name="lotor-pull", daemon=True).start()

    def ask(self, decision: Decision) -> _Call:
        call = _Call(decision)
        self._calls.put(call)
        return call

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            if call.cancelled:
                continue
            self.quick, began = False, perf_counter()
            try:
                answer = self._function(call.decision)
            except BaseException as error:
                answer = _Raised(error)
            else:
                self.quick = perf_counter() - began < QUICK
            call.answered(answer)

    def close(self) -> None:
        self._calls.put(None)

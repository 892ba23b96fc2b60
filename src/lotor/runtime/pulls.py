"""Asking the environment: checked rewards, plain or awaited, and errors that name the decision."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from math import nan
from numbers import Real

from lotor.core.effects import Decision
from lotor.core.errors import LotorError, PullError
from lotor.core.fixed_point import RewardScale


class Puller:
    """Calls a pull function and, where the answer is awaitable, awaits it.

    That happens in a thread of its own, so that it works inside a notebook's running loop too.
    """

    def __init__(
        self, pull: Callable[[Decision], float | Awaitable[float]], scale: RewardScale
    ) -> None:
        self._pull = pull
        self._low, self._high = scale.low, scale.high
        self._awaiter: _Awaiter | None = None

    def __call__(self, decision: Decision) -> float:
        try:
            answer = self._pull(decision)
            if type(answer) is not float:
                answer = self._settle(answer)
        except LotorError:
            raise
        except Exception as error:
            raise PullError(
                f"the pull of arm {decision.arm} in round {decision.round} failed "
                f"({type(error).__name__}; decision {decision.id}): mend the pull function"
            ) from error
        if not self._low <= answer <= self._high:
            # The reward itself is the owner's secret and stays out of the message.
            raise PullError(
                f"the pull of arm {decision.arm} in round {decision.round} answered what is no "
                f"number in the public reward_range ({self._low}, {self._high}) "
                f"(decision {decision.id}): mend the pull function or widen the range"
            )
        return answer

    def _settle(self, answer: object) -> float:
        """Await what is awaitable; what is no number becomes nan, which no range holds."""
        if isawaitable(answer):
            self._awaiter = self._awaiter or _Awaiter()
            answer = self._awaiter.wait(answer)
        return float(answer) if isinstance(answer, Real) else nan

    def close(self) -> None:
        if self._awaiter is not None:
            self._awaiter.close()


class _Awaiter:
    """An event loop in a thread of its own, kept for the whole run."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lotor-pull")
        self._thread.daemon = True
        self._thread.start()

    def wait(self, answer: Awaitable[object]) -> object:
        async def awaited() -> object:
            return await answer

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()

    def close(self) -> None:
        """End a pull that is under way, as after ctrl-C, instead of waiting for it."""
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)

"""Asking the environment: checked answers, plain or awaited, and errors that name the decision."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from math import hypot, isfinite, nan
from numbers import Real

from lotor.core.effects import HIDDEN, Decision, Observe
from lotor.core.errors import InputError, LotorError, PullError
from lotor.core.fixed_point import RewardScale
from lotor.core.vectors import UNIT_LENGTH

# The keys of party.toml that name what answers each kind of question.
PULL, ACT, FEATURES = "pull", "act", "features"


def to_number(answer: object) -> float:
    """The answer as a float; anything that is not a number becomes nan, which is in no range."""
    return float(answer) if isinstance(answer, Real) else nan


def question(key: str, decision: Decision) -> str:
    """What was asked, in words; the key of party.toml says by which function."""
    if key == FEATURES:
        return f"the features of round {decision.round}"
    arm = "an arm that is hidden here" if decision.arm == HIDDEN else f"arm {decision.arm}"
    done = "carrying out" if key == ACT else "pull"
    return f"the {done} of {arm} in round {decision.round}"


def failed(decision: Decision, error: BaseException, key: str = PULL) -> PullError:
    """The error for a function that raised one."""
    return PullError(
        f"{question(key, decision)} failed ({type(error).__name__}; decision {decision.id}): "
        f"mend the {key} function"
    )


def out_of_range(decision: Decision, scale: RewardScale) -> PullError:
    """The error for an unusable answer, which is the owner's secret and stays out of it."""
    return PullError(
        f"{question(PULL, decision)} did not answer with a "
        f"number in the public reward_range ({scale.low}, {scale.high}) "
        f"(decision {decision.id}): mend the pull function or widen the range"
    )


def to_reward(decision: Decision, answer: object, scale: RewardScale) -> float:
    """A checked reward."""
    reward = to_number(answer)
    if not scale.low <= reward <= scale.high:
        raise out_of_range(decision, scale)
    return reward


def to_features(
    decision: Decision, answer: object, count: int, length: float = 1.0
) -> tuple[float, ...]:
    """A party's own features of a context, checked; no error shows them."""
    try:
        values = tuple(map(to_number, answer))  # type: ignore[call-overload]
    except TypeError:
        values = ()
    if len(values) != count:
        wrong = f"are not {count} numbers"
    elif not all(map(isfinite, values)):
        wrong = "are not all finite numbers"
    elif hypot(*values) > length * UNIT_LENGTH:
        wrong = f"are longer than {length:g} as a vector"
    else:
        return values
    raise PullError(
        f"{question(FEATURES, decision)} {wrong} (decision {decision.id}): mend the features "
        f"function; contexts are scaled to a length of at most {length:g} before they come here"
    )


def features(environment: object, asked: Observe) -> tuple[float, ...]:
    """What a party would bring of a simulated context."""
    context = getattr(environment, "context", None)
    if context is None:
        raise InputError(
            "this protocol's parties bring features of a context in each round, and "
            f"{type(environment).__name__} has no context(round): give an environment that has "
            "one, such as ContextualArms"
        )
    low, high = asked.columns
    answer = context(asked.decision.round)[low:high]
    return to_features(asked.decision, answer, high - low, asked.length)


class Puller:
    """Calls a pull function and, where the answer is awaitable, awaits it.

    That happens in a thread of its own, so that it works inside a notebook's running loop too.
    """

    def __init__(
        self, pull: Callable[[Decision], float | Awaitable[float]], scale: RewardScale
    ) -> None:
        self._pull = pull
        self._scale = scale
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
            raise failed(decision, error) from error
        # As `to_reward` does, for an answer that is a float already.
        if not self._low <= answer <= self._high:
            raise out_of_range(decision, self._scale)
        return answer

    def _settle(self, answer: object) -> float:
        if isawaitable(answer):
            self._awaiter = self._awaiter or _Awaiter()
            answer = self._awaiter.wait(answer)
        return to_number(answer)

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

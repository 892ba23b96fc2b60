import asyncio
from collections.abc import Awaitable, Sequence
from inspect import isawaitable
from math import inf, nan

import pytest

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import CallbackArms, PullFunction


def constant(reward: float) -> PullFunction:
    return lambda decision: reward


def decision(arm: int) -> Decision:
    return Decision("run", 4, arm, f"run-4-{arm}")


async def finished(reward: float | Awaitable[float]) -> float:
    assert not isinstance(reward, float)
    return await reward


def test_a_decision_goes_to_its_arms_function() -> None:
    seen: list[Decision] = []

    def pull(decision: Decision) -> float:
        seen.append(decision)
        return 0.25

    start = CallbackArms([constant(0.5), pull]).start(7)
    assert start(decision(1)) == 0.25
    assert start(decision(0)) == 0.5
    assert seen == [decision(1)]


def test_an_async_function_is_handed_on_for_the_runtime_to_await() -> None:
    async def slow(decision: Decision) -> float:
        await asyncio.sleep(0)
        return 0.75

    pull = CallbackArms([constant(0.5), slow]).start(7)
    assert pull(decision(0)) == 0.5
    reward = pull(decision(1))
    assert isawaitable(reward)
    assert asyncio.run(finished(reward)) == 0.75


def test_an_error_of_the_function_is_the_callers() -> None:
    def broken(decision: Decision) -> float:
        raise OSError("database is down")

    with pytest.raises(OSError, match="database is down"):
        CallbackArms([broken]).start(7)(decision(0))


def test_range_and_number_of_arms() -> None:
    arms = CallbackArms([constant(1), constant(2), constant(3)], reward_range=(-10, 10))
    assert arms.k == 3
    assert arms.reward_range == (-10.0, 10.0)
    assert CallbackArms([constant(1)]).reward_range == (0.0, 1.0)


def test_no_arms_are_refused() -> None:
    with pytest.raises(InputError, match="no arms"):
        CallbackArms([])


def test_a_single_function_is_refused() -> None:
    with pytest.raises(InputError, match="one function per arm"):
        CallbackArms(constant(1))  # type: ignore[arg-type]


def test_what_cannot_be_called_is_refused() -> None:
    pulls: Sequence[PullFunction] = [constant(1), 0.5]  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"arm 1 has float 0\.5"):
        CallbackArms(pulls)


@pytest.mark.parametrize("bounds", [(1, 0), (1, 1), (0, inf), (nan, 1), (0,), (0, 1, 2), 1, "ab"])
def test_a_range_that_is_none_is_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="reward_range"):
        CallbackArms([constant(1)], reward_range=bounds)


@pytest.mark.parametrize("arm", [-1, 2])
def test_an_arm_that_does_not_exist_is_refused(arm: int) -> None:
    pull = CallbackArms([constant(1), constant(2)]).start(0)
    with pytest.raises(InputError, match=f"names arm {arm}.*arms 0 to 1"):
        pull(decision(arm))

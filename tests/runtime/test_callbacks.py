"""Callbacks that watch or stop a run, and ctrl-C that keeps what was done."""

import signal
from collections.abc import Callable

import pytest

import lotor
from lotor.environments import Environment
from lotor.policies import AnyPolicy
from lotor.protocols.protocol import Protocol

BUDGET = 40
RUNS = (
    (lotor.UCB(), lotor.BernoulliArms({"a": 0.9, "b": 0.5, "c": 0.1})),
    (lotor.Samba(lotor.UCB(), owners=3), lotor.BernoulliArms({"a": 0.9, "b": 0.5, "c": 0.1})),
    (lotor.LinUCBDS(), lotor.LinearArms([[1, 0], [0, 1]], theta=[0.8, 0.3])),
    (lotor.PPCB(), lotor.ContextualArms.lookalike(BUDGET, 3, 4, seed=1)),
    (lotor.Helba(), lotor.LinearContexts.toy(BUDGET, seed=1)),
)
every_protocol = pytest.mark.parametrize(
    ("protocol", "arms"), RUNS, ids=lambda one: type(one).__name__
)


@every_protocol
def test_a_callback_sees_each_round_in_its_order(
    protocol: Protocol | AnyPolicy, arms: Environment
) -> None:
    seen: list[lotor.Round] = []
    result = lotor.run(protocol, arms, budget=BUDGET, seed=5, on_round=seen.append)
    assert [one.round for one in seen] == list(range(1, BUDGET + 1))
    assert [one.arm for one in seen] == result.arms
    assert [one.reward for one in seen] == result.rewards
    assert seen[-1].total == pytest.approx(result.reward, abs=1e-6)
    if result.names is not None:
        assert [one.name for one in seen] == [result.names[one.arm] for one in seen]
    assert result.ended == "by itself"


@every_protocol
@pytest.mark.parametrize("last", [1, 2, 17])
def test_a_stopped_run_is_the_beginning_of_the_whole_one(
    protocol: Protocol | AnyPolicy, arms: Environment, last: int
) -> None:
    whole = lotor.run(protocol, arms, budget=BUDGET, seed=5)
    result = lotor.run(protocol, arms, budget=BUDGET, seed=5, on_round=lambda r: r.round == last)
    assert (result.rounds, result.ended) == (last, "stopped")
    assert result.arms == (whole.arms or [])[:last]
    assert result.rewards == (whole.rewards or [])[:last]
    assert result.reward == pytest.approx(float(whole.cumulative()[last - 1]), abs=1e-6)
    assert str(result).endswith(", stopped>")


def interrupting(at: int) -> Callable[[lotor.Decision], float]:
    def pull(decision: lotor.Decision) -> float:
        if decision.round == at:
            raise KeyboardInterrupt
        return float(decision.round % 2)

    return pull


def test_ctrl_c_returns_what_was_done_where_that_is_asked_for() -> None:
    arms = lotor.CallbackArms([interrupting(12)] * 2)
    result = lotor.run(lotor.Samba(lotor.UCB()), arms, budget=BUDGET, seed=5, partial=True)
    assert (result.rounds, result.ended, result.reward) == (11, "interrupted", 6.0)
    with pytest.raises(KeyboardInterrupt):
        lotor.run(lotor.UCB(), arms, budget=BUDGET, seed=5)


def test_an_error_in_a_callback_reaches_the_caller() -> None:
    def broken(one: lotor.Round) -> bool:
        raise ValueError(f"round {one.round}")

    with pytest.raises(ValueError, match="round 1"):
        lotor.run(lotor.UCB(), lotor.BernoulliArms([0.5]), budget=3, on_round=broken)


def test_without_a_trajectory_the_reward_of_a_stopped_run_is_still_known() -> None:
    arms = lotor.BernoulliArms([1.0])
    result = lotor.run(
        lotor.UCB(), arms, budget=9, trajectory=False, on_round=lambda one: one.round == 4
    )
    assert (result.arms, result.rewards, result.reward, result.rounds) == (None, None, 4.0, 4)


def test_ctrl_c_leaves_whole_rounds_only() -> None:
    """Wherever it comes, rewards and total are those of the same rounds."""
    arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    turn = iter(range(1, 10_000))

    def pull(decision: lotor.Decision) -> float:
        # In the middle of a round, and not yet of the first ones.
        if next(turn) == 40:
            signal.raise_signal(signal.SIGINT)
        return float(decision.arm == 0)

    mine = lotor.CallbackArms([pull] * arms.k)
    result = lotor.run(lotor.UCB(), mine, budget=100, seed=1, partial=True)
    assert (result.ended, result.rounds) == ("interrupted", 40)
    assert result.rewards is not None
    assert result.arms is not None
    assert result.reward == sum(result.rewards)
    assert len(result.rewards) == len(result.arms) == 40


def test_a_second_ctrl_c_does_not_wait() -> None:
    def pull(decision: lotor.Decision) -> float:
        if decision.round == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return 1.0

    arms = lotor.CallbackArms([pull] * 2)
    result = lotor.run(lotor.UCB(), arms, budget=100, seed=1, partial=True)
    assert (result.ended, result.rounds, result.reward) == ("interrupted", 4, 4.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

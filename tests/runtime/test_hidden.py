"""Decisions that one party carries out and another is paid for, and contexts, in one process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.effects import (
    HIDDEN,
    Act,
    Checkpoint,
    Decision,
    Message,
    Observe,
    Pull,
    Receive,
    Send,
    Steps,
)
from lotor.core.errors import InputError, ProtocolError, PullError
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import Protocol
from lotor.runtime.recorder import Recorder

ARMS = 3
D = 4
SEATS = ("owner-1", "owner-2", "server", "actor", "receiver")


class Vector(Message, frozen=True, tag="split/1/vector"):
    values: tuple[float, ...]


class Arm(Message, frozen=True, tag="split/1/arm"):
    arm: int


class Reward(Message, frozen=True, tag="split/1/reward"):
    reward: float


@dataclass
class Worlds:
    """An environment with contexts."""

    contexts: np.ndarray
    rewards: np.ndarray
    k: int = ARMS
    reward_range: tuple[float, float] = (0.0, 1.0)

    def context(self, t: int) -> np.ndarray:
        return np.asarray(self.contexts[t - 1])

    def start(self, seed: int) -> Callable[[Decision], float]:
        return lambda decision: float(self.rewards[decision.round - 1, decision.arm])


def world(rounds: int = 9) -> Worlds:
    draw = np.random.default_rng(3)
    contexts = draw.uniform(-0.5, 0.5, (rounds, D))
    return Worlds(contexts, draw.uniform(0, 1, (rounds, ARMS)))


@dataclass
class Scripted(Party):
    script: Steps[object]

    def steps(self) -> Steps[object]:
        return self.script


@dataclass(frozen=True)
class Split(Protocol):
    """Owners bring features, a server picks an arm, one party acts and another is paid."""

    order: tuple[str, ...] = SEATS
    stop_after: int | None = None
    acts: bool = True
    repeats: int = 1
    columns: tuple[int, ...] = (0, 1, D)
    spent: Mapping[str, float | int | str | None] | None = None
    name: ClassVar[str] = "split"

    @property
    def learner(self) -> str:
        return "receiver"

    @property
    def least_budget(self) -> int:
        return 1

    def options(self) -> Mapping[str, str | int]:
        return {}

    def privacy(self, run: Run) -> Mapping[str, float | int | str | None] | None:
        return self.spent

    def parties(self, run: Run) -> Mapping[str, Party]:
        rounds = range(1, (self.stop_after or run.budget) + 1)
        scripts = {"server": self._server, "actor": self._actor, "receiver": self._receiver}
        return {
            name: Scripted(scripts.get(name, self._owner)(run.id, name, rounds))
            for name in self.order
        }

    def _owner(self, run: str, name: str, rounds: range) -> Steps[None]:
        number = int(name[-1])
        for t in rounds:
            columns = self.columns[number - 1], self.columns[number]
            mine = yield Observe(Decision.hidden(run, t), columns)
            yield Send("server", Vector(mine))

    def _server(self, run: str, name: str, rounds: range) -> Steps[None]:
        for _ in rounds:
            first: Vector = yield Receive("owner-1", Vector)
            second: Vector = yield Receive("owner-2", Vector)
            chosen = int(np.argmax((first.values + second.values)[:ARMS]))
            yield Send("actor", Arm(chosen))
            yield Receive("receiver", Reward)

    def _actor(self, run: str, name: str, rounds: range) -> Steps[None]:
        for t in rounds:
            message: Arm = yield Receive("server", Arm)
            if self.acts:
                for _ in range(self.repeats):
                    nothing = yield Act(Decision.of_step(run, t, message.arm))
                    assert nothing is None

    def _receiver(self, run: str, name: str, rounds: range) -> Steps[float]:
        total = 0.0
        for t in rounds:
            yield Checkpoint(bytes, t, durable=True)
            reward = yield Pull(Decision.hidden(run, t))
            total += reward
            yield Send("server", Reward(reward))
        return total


def expected(env: Worlds, rounds: int) -> list[int]:
    return [int(np.argmax(env.contexts[t][:ARMS])) for t in range(rounds)]


@pytest.mark.parametrize("order", list(permutations(SEATS[1:])))
def test_rewards_find_their_way_in_any_order(order: tuple[str, ...]) -> None:
    env = world()
    result = lotor.run(Split(("owner-1", *order)), env, budget=9)
    assert result.arms == expected(env, 9)
    assert result.reward == sum(env.rewards[t, arm] for t, arm in enumerate(result.arms))
    assert (result.rounds, result.privacy) == (9, None)


def test_each_view_has_its_own_and_no_more() -> None:
    env, recorder = world(), Recorder()
    result = lotor.run(Split(), env, budget=9, recorder=recorder)
    assert result.arms is not None
    assert [(name, decision.arm) for name, decision in recorder.acts] == [
        ("actor", arm) for arm in result.arms
    ]
    assert {name for name, _, _ in recorder.pulls} == {"receiver"}
    assert {decision.arm for _, decision, _ in recorder.pulls} == {HIDDEN}
    assert [reward for _, _, reward in recorder.pulls] == [
        env.rewards[t, arm] for t, arm in enumerate(result.arms)
    ]
    acted, pulled = ([entry[1].id for entry in seen] for seen in (recorder.acts, recorder.pulls))
    assert acted == pulled == [f"{result.run}/{t}" for t in range(1, 10)]
    for name, decision, features in recorder.features:
        low, high = (0, 1) if name == "owner-1" else (1, D)
        assert features == tuple(env.contexts[decision.round - 1][low:high])
        assert decision.arm == HIDDEN


def test_a_run_that_ends_before_its_budget() -> None:
    env = world()
    result = lotor.run(Split(stop_after=4, spent={"total": 1.5, "basic": None}), env, budget=9)
    assert result.arms == expected(env, 4)
    assert (result.rounds, result.budget) == (4, 9)
    assert result.privacy == {"total": 1.5, "basic": None}
    assert lotor.Result.from_json(result.to_json()) == result


def test_acts_count_as_progress() -> None:
    seen: list[tuple[int, int]] = []
    lotor.run(Split(), world(), budget=9, progress=lambda *at: seen.append(at))
    assert seen == [(t, 9) for t in range(1, 10)]


def test_nobody_acted() -> None:
    with pytest.raises(ProtocolError, match=r"receiver pulls decision .*/1, which nobody has"):
        lotor.run(Split(acts=False), world(), budget=9)


def test_an_act_is_once() -> None:
    with pytest.raises(ProtocolError, match=r"carries out decision .*/1 a second time"):
        lotor.run(Split(repeats=2), world(), budget=9)


def test_an_environment_without_contexts() -> None:
    with pytest.raises(InputError, match=r"BernoulliArms has no context\(round\)"):
        lotor.run(Split(), lotor.BernoulliArms([0.5] * ARMS), budget=3)


@given(st.lists(st.floats(allow_nan=True), min_size=D, max_size=D).map(np.array))
def test_bad_features_name_the_round_and_never_the_values(context: np.ndarray) -> None:
    env = Worlds(np.array([context]), np.ones((1, ARMS)))
    with np.errstate(over="ignore"):
        usable = all(
            np.isfinite(part).all() and np.hypot.reduce(part) <= 1.0
            for part in (context[:1], context[1:])
        )
    if usable:
        assert lotor.run(Split(), env, budget=1).rounds == 1
        return
    with pytest.raises(PullError, match="features of round 1 are") as error:
        lotor.run(Split(), env, budget=1)
    message = str(error.value).replace("length of at most 1", "")
    assert not any(f" {value!r}" in message for value in context.tolist())


def test_features_of_another_length() -> None:
    with pytest.raises(PullError, match="features of round 1 are not 8 numbers"):
        lotor.run(Split(columns=(0, 1, 9)), world(), budget=2)


@dataclass
class Wrong:
    """A reward out of range behind a hidden arm."""

    k: int = ARMS
    reward_range: tuple[float, float] = (0.0, 1.0)
    contexts: np.ndarray = field(default_factory=lambda: np.zeros(D))

    def context(self, t: int) -> np.ndarray:
        return self.contexts

    def start(self, seed: int) -> Callable[[Decision], float]:
        return lambda _: 2.5


def test_a_wrong_reward_is_reported_where_it_arises() -> None:
    with pytest.raises(PullError, match="arm 0 in round 1 did not answer") as error:
        lotor.run(Split(), Wrong(), budget=2)
    assert "(raised at actor)" in error.value.__notes__

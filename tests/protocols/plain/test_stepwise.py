"""Asked and told step by step, a policy makes the choices of `lotor.run`."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments import Environment
from lotor.policies import AnyPolicy

POLICIES = (
    lotor.UCB(),
    lotor.ThompsonSampling(),
    lotor.EpsilonGreedy(),
    lotor.Softmax(),
    lotor.Pursuit(),
    lotor.ReinforcementComparison(),
)
BUDGET = 40


def stepwise(
    policy: AnyPolicy,
    environment: Environment,
    seed: int,
    context: Callable[[int], Floats | None] = lambda t: None,
) -> tuple[list[int], float]:
    """The loop that a user writes."""
    bandit = lotor.Bandit(policy, environment.k, seed=seed, reward_range=environment.reward_range)
    pull = environment.start(seed)
    arms = []
    for t in range(1, BUDGET + 1):
        arm = bandit.ask(context(t))
        assert arm == bandit.ask(context(t))
        assert isinstance(arm, int)
        reward = pull(lotor.Decision.named("mine", t, arm))
        assert isinstance(reward, float)
        bandit.tell(arm, reward)
        arms.append(arm)
    return arms, bandit.total


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**48), k=st.integers(1, 6))
def test_the_same_draws_as_run(policy: AnyPolicy, seed: int, k: int) -> None:
    arms = lotor.BernoulliArms(np.linspace(0.1, 0.9, k).tolist())
    result = lotor.run(policy, arms, budget=BUDGET, seed=seed)
    assert stepwise(policy, arms, seed) == (result.arms, result.reward)


def test_the_same_draws_as_run_with_a_context() -> None:
    arms = lotor.ContextualArms.lookalike(BUDGET, 3, 4, seed=1)
    policy = lotor.LinearEpsilonGreedy(epsilon=0.2)
    result = lotor.run(policy, arms, budget=BUDGET, seed=5)
    assert stepwise(policy, arms, 5, arms.context) == (result.arms, result.reward)


@pytest.mark.parametrize("policy", [lotor.OFUL(), lotor.RSOFUL(), lotor.RSOFULTR()], ids=str)
def test_the_same_draws_as_run_with_a_context_of_each_arm(policy: AnyPolicy) -> None:
    arms = lotor.LinearContexts.toy(BUDGET, seed=1)
    result = lotor.run(policy, arms, budget=BUDGET, seed=5)
    assert stepwise(policy, arms, 5, arms.contexts_at) == (result.arms, result.reward)


def test_another_arm_than_the_one_asked_for_may_be_told() -> None:
    bandit = lotor.Bandit(lotor.UCB(), ["a", "b", "c"], seed=1)
    assert bandit.ask() == "a"
    bandit.tell("b", 1.0)
    assert bandit.ask() == "a"
    bandit.tell("a", 0.0)
    assert bandit.ask() == "c"
    bandit.tell("c", 0.0)
    assert bandit.ask() == "b"
    assert (bandit.rounds, bandit.total) == (3, 1.0)


def test_misuse_is_refused_and_changes_nothing() -> None:
    bandit = lotor.Bandit(lotor.UCB(), ["a", "b"], seed=1)
    with pytest.raises(InputError, match="call `ask` before"):
        bandit.tell("a", 1.0)
    with pytest.raises(InputError, match="takes no context"):
        bandit.ask([1.0])
    bandit.ask()
    for arm in ("c", 0, 2, None, ["a"]):
        with pytest.raises(InputError, match="the arms are a, b"):
            bandit.tell(arm, 1.0)  # type: ignore[arg-type]
    for reward in (2.0, -0.1, float("nan"), "x"):
        with pytest.raises(InputError, match="reward"):
            bandit.tell("a", reward)  # type: ignore[arg-type]
    assert bandit.rounds == 0
    contextual = lotor.Bandit(lotor.OFUL(), 2, seed=1, reward_range=(-5, 5))
    for context in (None, [1.0], [[1.0, 0.0]], [[1.0], [float("nan")]], "x"):
        with pytest.raises(InputError, match="needs the context of the round, 2 rows"):
            contextual.ask(context)  # type: ignore[arg-type]
    contextual.ask([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="another context"):
        contextual.ask([[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="as long as in other rounds"):
        contextual.ask([[1.0], [0.0]])


def test_what_cannot_be_asked_step_by_step() -> None:
    with pytest.raises(InputError, match="computes rewards from theta itself"):
        lotor.Bandit(lotor.LinUCB(), 2)
    with pytest.raises(InputError, match="takes a policy"):
        lotor.Bandit(lotor.Samba(), 2)  # type: ignore[arg-type]
    for seed in (-1, 1.5, True, "x"):
        with pytest.raises(InputError, match=r"seed is .*: give a whole number"):
            lotor.Bandit(lotor.UCB(), 2, seed=seed)  # type: ignore[arg-type]
    bandit = lotor.Bandit(lotor.UCB(), 2, seed=1)
    bandit.ask()
    with pytest.raises(InputError, match="no arm True"):
        bandit.tell(True, 1.0)
    for arms in (["a", "a"], ["a", ""], [], 0):
        with pytest.raises(InputError, match="arm"):
            lotor.Bandit(lotor.UCB(), arms)

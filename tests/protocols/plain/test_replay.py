"""A policy learns from a log: as in a run on it, and with contexts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.policies import AnyPolicy, Policy


def contextual_log(events: int = 3000) -> tuple[lotor.LoggedArms, Floats]:
    """Uniform choices; the better arm depends on the sign of the first number of a context."""
    generator = np.random.default_rng(1)
    contexts = generator.uniform(-1, 1, size=(events, 2)) / 2
    arms = generator.integers(2, size=events)
    means = np.where((contexts[:, 0] > 0) == (arms == 1), 0.9, 0.1)
    rewards = (generator.random(events) < means).astype(float)
    return lotor.LoggedArms(arms.tolist(), rewards, contexts=contexts), contexts


@pytest.mark.parametrize(
    "policy",
    [lotor.UCB(), lotor.ThompsonSampling(), lotor.Pursuit(), lotor.EpsilonGreedy(0.2)],
    ids=lambda one: type(one).__name__,
)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_without_contexts_it_is_a_run_on_the_log(policy: Policy, seed: int) -> None:
    generator = np.random.default_rng(seed)
    arms = [0, 1, 2, *generator.integers(3, size=300).tolist()]
    log = lotor.LoggedArms(
        arms, generator.random(303), generator.choice([0.25, 0.5, 0.75], size=303)
    )
    run, found = (
        lotor.run(policy, log, budget=1000, seed=seed),
        lotor.replay(policy, log, seed=seed),
    )
    assert (found.arms, found.rewards) == (run.arms, run.rewards)
    assert found.events == sorted(set(found.events))
    assert [log.arms[event] for event in found.events] == found.arms


def test_a_policy_that_sees_contexts_learns_from_them() -> None:
    log, _ = contextual_log()
    seeing = lotor.replay(lotor.LinearEpsilonGreedy(0.05), log, seed=1)
    blind = lotor.replay(lotor.UCB(), log, seed=1)
    assert seeing.value > 0.75
    assert blind.value < 0.6
    assert 0 < seeing.standard_error < 0.02
    assert 1200 < seeing.rounds < 1800
    assert repr(seeing).startswith("<Replay of linear-epsilon-greedy")


def test_a_policy_that_sees_a_context_of_each_arm() -> None:
    generator = np.random.default_rng(3)
    contexts = generator.uniform(-1, 1, size=(800, 3, 2))
    arms = generator.integers(3, size=800)
    rewards = contexts[np.arange(800), arms] @ np.array([0.8, -0.4])
    log = lotor.LoggedArms(arms.tolist(), rewards, contexts=contexts)
    found = lotor.replay(lotor.OFUL(sigma=0.1), log, seed=1)
    best = float((contexts @ np.array([0.8, -0.4])).max(axis=1).mean())
    assert found.value > 0.7 * best


def test_one_round_has_no_error() -> None:
    found = lotor.replay(lotor.UCB(), lotor.LoggedArms([0, 0], [1, 1], k=2), seed=1)
    assert (found.rounds, found.value, found.standard_error) == (1, 1.0, float("inf"))


def test_what_cannot_be_replayed_is_refused() -> None:
    log, contexts = contextual_log(10)
    cases: list[tuple[AnyPolicy, lotor.LoggedArms, str]] = [
        (lotor.OFUL(), log, "sees a context of each arm in each round"),
        (lotor.LinearEpsilonGreedy(), lotor.LoggedArms([0, 1], [0, 1]), "sees one context"),
        (lotor.LinUCB(), log, "cannot be asked and told step by step"),
        (lotor.UCB(), lotor.LoggedArms([1], [0]), "no event of the log has the arm"),
    ]
    for policy, given_log, complaint in cases:
        with pytest.raises(InputError, match=complaint):
            lotor.replay(policy, given_log)
    with pytest.raises(InputError, match="replay takes a policy such as UCB"):
        lotor.replay("ucb", log)  # type: ignore[arg-type]
    assert contexts.shape == (10, 2)

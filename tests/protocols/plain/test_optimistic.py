"""Against the pseudo-code written with LAPACK, and for what holds whatever the policy."""

from collections import Counter
from collections.abc import Callable
from math import log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, Floats, RewardScale
from lotor.policies import BatchedOFUL, OptimisticPolicy, to_text
from lotor.protocols.plain import Plain
from lotor.runtime.recorder import Recorder

PAPER = BatchedOFUL(index="sqrt", width="union", C=1.0, eta=0.1)
POLICIES = [lotor.OFUL(), lotor.RSOFUL(), lotor.RSOFULTR(), BatchedOFUL(), PAPER]


def some_arms(seed: int, rounds: int = 60) -> lotor.LinearContexts:
    generator = np.random.default_rng(seed)
    arms, d = int(generator.integers(1, 6)), int(generator.integers(1, 6))
    return lotor.LinearContexts.random(rounds, arms=arms, d=d, seed=seed)


def rewarded(arms: lotor.LinearContexts, noise: list[float], t: int, arm: int) -> float:
    """A reward as it is learned from: on the grid of its range."""
    low, high = arms.reward_range
    fixed = RewardScale(low, high).to_fixed(arms.means.item(t - 1, arm) + noise[t - 1])
    return low + (high - low) * fixed / REWARD_ONE


def noises(arms: lotor.LinearContexts, budget: int, seed: int) -> list[float]:
    zeros = lotor.LinearContexts(np.zeros((budget, 1, 1)), [1.0], noise_sd=arms.noise_sd)
    pull = zeros.start(seed)
    return [pull(lotor.Decision.of_step("", t, 0)) for t in range(1, budget + 1)]


def algorithm_4(arms: lotor.LinearContexts, budget: int, seed: int) -> tuple[list[int], int]:
    """The paper's server, with t_j and condition (8) as they are corrected."""
    noise, d = noises(arms, budget, seed), arms.d
    v, g = np.eye(d), np.zeros(d)
    a: Floats = np.eye(d)
    w, start, trace = np.zeros(d), 1, 0.0
    pulled: list[int] = []
    updates = 0
    for t in range(1, budget + 1):
        beta = 0.5 * sqrt(d * log((1 + 5.5**2 * start) * (pi**2 * t**2 / 0.06)))
        beta += start**-0.5 + 1
        eps = 5.5 / (start**1.5 * sqrt(1 + 5.5**2 * start))
        x = arms.contexts[t - 1]
        z = np.einsum("ai,ij,aj->a", x, a, x)
        arm = int((x @ w + beta * (np.sqrt(z + eps) + 1 / t)).argmax())
        pulled.append(arm)
        v += np.outer(x[arm], x[arm])
        g += rewarded(arms, noise, t, arm) * x[arm]
        trace += z[arm]
        if trace >= 1 or 10 * (t + 1) >= 11 * start:
            a, start, trace = np.linalg.inv(v).astype(np.float64), t + 1, 0.0
            w = a @ g
            updates += 1
    return pulled, updates


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_it_follows_algorithm_4(seed: int) -> None:
    arms = some_arms(seed)
    result = lotor.run(PAPER, arms, budget=60, seed=seed)
    pulled, updates = algorithm_4(arms, 60, seed)
    assert result.arms == pulled
    assert result.operations == {"updates": updates}


def rarely(arms: lotor.LinearContexts, budget: int, seed: int, rule: str) -> list[int]:
    """OFUL whose estimate is renewed by a rule, with determinants from LAPACK."""
    noise, d = noises(arms, budget, seed), arms.d
    v, g = np.eye(d), np.zeros(d)
    w: Floats = np.zeros(d)
    kept, own = v.copy(), 0.0
    pulled: list[int] = []
    for t in range(1, budget + 1):
        x, a = arms.contexts[t - 1], np.linalg.inv(kept)
        z = np.einsum("ai,ij,aj->a", x, a, x)
        beta = 0.5 * sqrt(log(np.linalg.det(kept)) + 2 * log(100)) + 1
        arm = int((x @ w + beta * np.sqrt(z)).argmax())
        pulled.append(arm)
        v += np.outer(x[arm], x[arm])
        g += rewarded(arms, noise, t, arm) * x[arm]
        own += z[arm]
        doubled = np.linalg.det(v) >= 2 * np.linalg.det(kept)
        if {"always": True, "determinant": doubled, "trace": own >= 1}[rule]:
            kept, own = v.copy(), 0.0
            w = np.linalg.solve(v, g).astype(np.float64)
    return pulled


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(
        [(lotor.OFUL(), "always"), (lotor.RSOFUL(), "determinant"), (lotor.RSOFULTR(), "trace")]
    ),
)
def test_oful_and_its_rarely_switching_forms(seed: int, form: tuple[OptimisticPolicy, str]) -> None:
    policy, rule = form
    arms = some_arms(seed)
    assert lotor.run(policy, arms, budget=60, seed=seed).arms == rarely(arms, 60, seed, rule)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_one_seed_gives_one_run(policy: OptimisticPolicy) -> None:
    toy = lotor.LinearContexts.toy(seed=3)
    first, again, other = (lotor.run(policy, toy, budget=130, seed=seed) for seed in (1, 1, 2))
    assert first.agrees_with(again)
    assert not first.agrees_with(other)
    assert first.protocol == "plain"
    assert first.options == {"policy": to_text(policy)}
    assert first.agrees_with(lotor.run(Plain(policy), toy, budget=130, seed=1))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_it_learns(policy: OptimisticPolicy) -> None:
    """Far less regret than arms that are drawn, over some instances of the toy problem."""
    learned = drawn = 0.0
    for seed in range(6):
        toy = lotor.LinearContexts.toy(400, seed=seed)
        learned += toy.regret(lotor.run(policy, toy, budget=400, seed=seed).arms or [])
        drawn += toy.regret(np.random.default_rng(seed).integers(0, 2, size=400).tolist())
    assert learned < drawn / 5


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_indices_are_upper_bounds(policy: OptimisticPolicy) -> None:
    """In all rounds of a run, on all arms, but for a share delta = 0.01 of all runs."""
    failed = 0
    for seed in range(30):
        toy, model = lotor.LinearContexts.toy(60, seed=seed), policy.start(2)
        pull, means = toy.start(seed), toy.means
        below = False
        for t in range(1, 61):
            x = toy.contexts_at(t)
            indices = model.indices(x)
            below |= bool(np.any(indices < means[t - 1]))
            arm = int(indices.argmax())
            model.update(x[arm], pull(lotor.Decision.of_step("", t, arm)))
        failed += below
    assert failed <= 1


def test_equal_arms_are_decided_by_a_draw() -> None:
    arms = lotor.LinearContexts(np.ones((600, 3, 2)), [0.3, 0.3])
    pulled = lotor.run(lotor.OFUL(), arms, budget=600, seed=4).arms or []
    assert all(150 <= Counter(pulled)[arm] <= 250 for arm in range(3))
    # A part of a longer run: draws depend on the round alone.
    assert lotor.run(lotor.RSOFUL(), arms, budget=100, seed=4).arms == pulled[:100]


def test_the_reward_is_the_sum_of_what_was_paid() -> None:
    recorder = Recorder()
    toy = lotor.LinearContexts.toy(seed=1)
    result = lotor.run(lotor.OFUL(), toy, budget=130, seed=1, recorder=recorder)
    assert result.reward == pytest.approx(sum(paid for _, _, paid in recorder.pulls), abs=1e-6)
    assert [choice.id for _, choice, _ in recorder.pulls[:2]] == [
        f"{result.run}/1",
        f"{result.run}/2",
    ]


def test_a_run_of_one_round() -> None:
    assert lotor.run(lotor.OFUL(), lotor.LinearContexts.toy(), budget=1, seed=1).rounds == 1


LONG = lotor.LinearContexts([[[6.0], [1.0]]], [0.1])


@pytest.mark.parametrize(
    ("start", "complaint"),
    [
        (lambda: lotor.run(lotor.OFUL(), lotor.BernoulliArms([0.5]), budget=1), "LinearContexts"),
        (
            lambda: lotor.run(lotor.OFUL(), lotor.LinearContexts.toy(10), budget=11),
            "contexts for 10 rounds, fewer than the budget of 11",
        ),
        (lambda: lotor.run(lotor.OFUL(), LONG, budget=1), "longer than L = 5.5"),
        (lambda: lotor.run(lotor.OFUL(S=0.05, L=6), LONG, budget=1), "longer than S = 0.05"),
        (lambda: lotor.run(lotor.OFUL(), lotor.LinearContexts.toy(), budget=0), "at least 1"),
        (lambda: lotor.run(lotor.LinUCB(), lotor.LinearContexts.toy(), budget=5), "LinearArms"),
    ],
)
def test_what_does_not_fit_is_refused(start: Callable[[], object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        start()


def test_contexts_beyond_the_budget_do_not_matter() -> None:
    arms = lotor.LinearContexts([[[1.0], [2.0]], [[9.0], [1.0]]], [0.1])
    assert lotor.run(lotor.OFUL(), arms, budget=1, seed=1).arms == [1]

"""Against a textbook written in floats, and for what the integers must keep."""

from collections import Counter
from fractions import Fraction
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import RewardScale
from lotor.core.vectors import largest_norm
from lotor.environments import linear_lookalike
from lotor.policies.linear import LinearPolicy, SlotBits, effective_dimension
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.plain.linear import linear_layout
from lotor.runtime.recorder import Recorder

MOVIELENS = Path(__file__).parents[4] / "shared" / "data" / "movielens-100k" / "u.data"
PAPER = {"gamma": 0.01, "delta": 0.001, "R": 0.01}
# The paper's R covers less noise than these arms have; nothing here depends on it.
pytestmark = pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning")


def plan(arms: lotor.LinearArms, budget: int, seed: int) -> Run:
    return Run("00" * 16, arms.k, budget, RewardScale(*arms.reward_range), seed, arms, 2)


def omega(policy: LinearPolicy, arms: lotor.LinearArms, t: int, budget: int) -> float:
    if isinstance(policy, lotor.LinUCB):
        s = log(t) if isinstance(policy.S, str) else policy.S
        grown = 1 + t * largest_norm(arms.vectors) ** 2 / policy.gamma
        return policy.R * sqrt(arms.d * log(grown / policy.delta)) + sqrt(policy.gamma) * s
    assert isinstance(policy, lotor.SpectralUCB)
    assert arms.eigenvalues is not None
    d = effective_dimension(arms.eigenvalues + policy.gamma, budget, policy.gamma)
    c = log(t) if isinstance(policy.C, str) else policy.C
    width = d * log(1 + t / policy.gamma) + 2 * log(1 / policy.delta)
    return 2 * policy.R * sqrt(width) + c


def textbook(
    policy: lotor.LinUCB | lotor.SpectralUCB, arms: lotor.LinearArms, budget: int, seed: int
) -> tuple[list[int], float]:
    """Figure 2 as it is written: rewards, b and the estimate A^-1 b, all of them floats."""
    draws = LinearDraws.simulated(plan(arms, budget, seed), arms)
    x = arms.vectors
    a = policy.gamma * np.eye(arms.d)
    if isinstance(policy, lotor.SpectralUCB):
        assert arms.eigenvalues is not None
        a += np.diag(arms.eigenvalues)
    b = np.zeros(arms.d)
    total, pulled, arm = 0.0, [], draws.first()
    for t in range(1, budget + 1):
        reward = float(x[arm] @ arms.theta) + draws.noise(t)
        pulled.append(arm)
        total += reward
        a += np.outer(x[arm], x[arm])
        b += reward * x[arm]
        inverse = np.linalg.inv(a)
        widths = np.sqrt(((x @ inverse) * x).sum(axis=1))
        arm = int(np.argmax(x @ (inverse @ b) + omega(policy, arms, t, budget) * widths))
    return pulled, total


def some_arms(generator: np.random.Generator) -> lotor.LinearArms:
    k, d = int(generator.integers(2, 30)), int(generator.integers(1, 9))
    theta = generator.normal(size=d)
    theta /= sqrt(np.square(theta).sum())
    return lotor.LinearArms(generator.normal(size=(k, d)), theta, noise_sd=0.3)


def some_graph(generator: np.random.Generator) -> lotor.GraphArms:
    """Weights that all differ: nodes that a symmetry of the graph swaps would be tied."""
    k = int(generator.integers(2, 24))
    places = generator.normal(size=(k, 2))
    distances = np.square(places[:, np.newaxis] - places).sum(axis=2)
    weights = np.exp(-distances) * (1 - np.eye(k))
    values = places @ generator.normal(size=2)
    return lotor.GraphArms(weights, values, noise_sd=0.3)


def differing(
    policy: lotor.LinUCB | lotor.SpectralUCB,
    instances: list[lotor.LinearArms],
    budget: int,
    slot_bits: SlotBits = 64,
) -> int:
    count = 0
    for seed, arms in enumerate(instances):
        result = lotor.run(Plain(policy, {"slot_bits": slot_bits}), arms, budget=budget, seed=seed)
        pulled, total = textbook(policy, arms, budget, seed)
        if result.arms != pulled:
            count += 1
        else:
            assert result.reward == pytest.approx(total, abs=1e-5 * budget)
    return count


# Floats may tie where the integers do not, at most once in many instances.
COUNTS = [(30, 0), pytest.param(200, 1, marks=pytest.mark.long)]


@pytest.mark.parametrize(("count", "ties"), COUNTS)
@pytest.mark.parametrize(
    "policy",
    [lotor.LinUCB(), lotor.LinUCB(S="log t", gamma=0.01, delta=0.001, R=0.01)],
    ids=["defaults", "paper"],
)
def test_linucb_equals_the_textbook(policy: lotor.LinUCB, count: int, ties: int) -> None:
    generator = np.random.default_rng(11)
    instances = [some_arms(generator) for _ in range(count)]
    assert differing(policy, instances, budget=60) <= ties


@pytest.mark.parametrize(("count", "ties"), COUNTS)
@pytest.mark.parametrize(
    "policy",
    [lotor.SpectralUCB(C=20.0), lotor.SpectralUCB(C="log t", delta=0.001, R=0.01)],
    ids=["bound", "paper"],
)
def test_spectral_ucb_equals_the_textbook(policy: lotor.SpectralUCB, count: int, ties: int) -> None:
    generator = np.random.default_rng(12)
    instances: list[lotor.LinearArms] = [some_graph(generator) for _ in range(count)]
    assert differing(policy, instances, budget=40) <= ties


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([59, 62, 64, 96]))
def test_the_reward_is_the_exact_sum(seed: int, slot_bits: SlotBits) -> None:
    arms = some_arms(np.random.default_rng(seed))
    policy = lotor.LinUCB()
    result = lotor.run(Plain(policy, {"slot_bits": slot_bits}), arms, budget=20, seed=seed)
    layout = linear_layout(arms.vectors, policy, slot_bits)
    draws = LinearDraws.simulated(plan(arms, 20, seed), arms)
    theta = layout.theta(arms.theta)
    assert result.arms is not None
    total = sum(
        sum(
            round(Fraction(value) * Fraction(2) ** layout.arm_fraction) * t
            for value, t in zip(arms.vectors[arm].tolist(), theta, strict=True)
        )
        + round(Fraction(draws.noise(t)) * Fraction(2) ** layout.reward_fraction)
        for t, arm in enumerate(result.arms, start=1)
    )
    assert result.reward == layout.reward(total)


def test_one_seed_gives_one_run() -> None:
    arms = some_arms(np.random.default_rng(3))
    first, again, other = (
        lotor.run(lotor.LinUCB(), arms, budget=50, seed=seed) for seed in (1, 1, 2)
    )
    assert first.agrees_with(again)
    assert not first.agrees_with(other)


def test_equal_arms_are_chosen_by_their_draws_of_the_round() -> None:
    """Each as often as the other, and the first in the round's order."""
    arms = lotor.LinearArms([[1.0, 0.0]] * 4, [0.5, 0.5])
    result = lotor.run(lotor.LinUCB(), arms, budget=800, seed=5)
    assert result.arms is not None
    assert all(150 <= count <= 250 for count in Counter(result.arms).values())
    draws = LinearDraws.simulated(plan(arms, 800, 5), arms)
    orders = [draws.order(t) for t in range(2, 801)]
    assert result.arms == [draws.first(), *(int(order[0]) for order in orders)]


def test_a_duplicate_of_the_best_arm_shares_its_pulls() -> None:
    arms = lotor.LinearArms([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0.9, 0.1])
    result = lotor.run(lotor.LinUCB(), arms, budget=400, seed=5)
    assert result.arms is not None
    counts = Counter(result.arms)
    assert counts[1] < 40
    assert abs(counts[0] - counts[2]) < 80


def test_given_noise_and_first_arm_replay_a_run() -> None:
    noise = [0.5, -0.25, 0.125, 0.0]
    arms = lotor.LinearArms([[1.0], [0.5]], [0.5], noise=noise, first=1)
    result = lotor.run(lotor.LinUCB(), arms, budget=4)
    assert result.arms is not None
    assert result.arms[0] == 1
    assert result.reward == sum([0.5, 0.25][arm] for arm in result.arms) + sum(noise)
    assert result.agrees_with(lotor.run(lotor.LinUCB(), arms, budget=4, seed=99))


def twins(gap: float) -> list[lotor.LinearArms]:
    """Every arm has a twin that differs by about the gap."""
    generator = np.random.default_rng(13)
    instances = []
    for _ in range(40):
        arms = some_arms(generator)
        moved = arms.vectors + gap * generator.normal(size=arms.vectors.shape)
        instances.append(lotor.LinearArms(np.vstack([arms.vectors, moved]), arms.theta))
    return instances


def test_wider_slots_tell_nearly_equal_arms_apart() -> None:
    assert differing(lotor.LinUCB(), twins(1e-5), budget=20) <= 1
    assert differing(lotor.LinUCB(), twins(1e-10), budget=20, slot_bits=96) <= 1
    assert differing(lotor.LinUCB(), twins(1e-10), budget=20, slot_bits=64) > 20


def test_a_budget_below_k_is_fine_and_one_round_is_refused() -> None:
    arms = linear_lookalike("movielens-factors-like", k=50, d=5)
    result = lotor.run(lotor.LinUCB(S=8.0), arms, budget=2, seed=1)
    assert result.arms is not None
    assert len(result.arms) == 2
    for budget in (0, 1):
        with pytest.raises(InputError, match="the first arm is drawn, so give at least 2"):
            lotor.run(lotor.LinUCB(S=8.0), arms, budget=budget, seed=1)
    with pytest.raises(InputError, match="each arm is pulled once"):
        lotor.run(lotor.UCB(), arms, budget=10, seed=1)


def test_what_a_result_says() -> None:
    arms = linear_lookalike("movielens-factors-like", k=5, d=2)
    seen: list[tuple[int, int]] = []
    recorder = Recorder()
    result = lotor.run(
        lotor.LinUCB(S=8), arms, budget=20, seed=1, recorder=recorder,
        progress=lambda t, n: seen.append((t, n)),
    )  # fmt: skip
    assert (result.protocol, result.k, result.budget) == ("plain", 5, 20)
    assert result.options == {
        "policy": "linucb:gamma=1.0,delta=0.01,R=0.1,S=8.0",
        "slot_bits": 64,
    }
    assert seen[-1] == (20, 20)
    assert result.arms is not None
    assert len(result.arms) == 20
    assert recorder.pulls == []  # rewards are computed, nobody is asked for them
    assert lotor.Result.from_json(result.to_json()) == result


def test_other_policies_run_on_linear_arms_too() -> None:
    arms = lotor.LinearArms([[1.0], [0.0]], [0.9])
    result = lotor.run(lotor.UCB(), arms, budget=200, seed=1)
    assert result.arms is not None
    assert result.arms.count(0) > 100


@pytest.mark.parametrize(
    ("policy", "arms", "complaint"),
    [
        (lotor.LinUCB(), lotor.BernoulliArms([0.9, 0.1]), "not BernoulliArms: give LinearArms"),
        (lotor.LinUCB(), lotor.LinearArms([[1], [2]], [1.5]), "longer than S = 1"),
        (lotor.LinUCB(S="log t"), lotor.LinearArms([[1], [2]], [65]), "theta_bound = 64"),
        (lotor.LinUCB(), lotor.LinearArms([[0], [0]], [0.5]), "L = 0.0, S = 1.0, K = 2"),
        (lotor.LinUCB(), lotor.LinearArms([[1], [2]], [1], noise=[0] * 4), "fewer than the budget"),
        (lotor.LinUCB(S=1e-9), lotor.LinearArms([[1], [2]], [0], noise_sd=50), "lower noise_sd"),
        (lotor.SpectralUCB(), lotor.LinearArms([[1], [2]], [1]), "give it GraphArms"),
        (lotor.SpectralUCB(), lotor.GraphArms([[0, 9], [9, 0]], [1, 2]), "state a larger C"),
    ],
)
def test_what_does_not_fit_is_refused(
    policy: LinearPolicy, arms: lotor.LinearArms, complaint: str
) -> None:
    with pytest.raises((InputError, PolicyError), match=complaint):
        lotor.run(policy, arms, budget=10, seed=1)


def test_a_protocol_without_its_environment_is_refused() -> None:
    run = Run("00" * 16, 2, 10, RewardScale(), 1)
    with pytest.raises(InputError, match="NoneType"):
        Plain(lotor.LinUCB()).parties(run)


def paper_arms(k: int, d: int) -> list[lotor.LinearArms]:
    found = [linear_lookalike("movielens-factors-like", k=k, d=d)]
    if MOVIELENS.exists():
        found.append(lotor.LinearArms.movielens(MOVIELENS, k=k, d=d, user=1, cache=None))
    return found


@pytest.mark.parametrize(("k", "d", "budget"), [(15, 3, 1000), (50, 5, 200), (6, 18, 200)])
def test_the_papers_configurations_run(k: int, d: int, budget: int) -> None:
    for arms in paper_arms(k, d):
        policy = lotor.LinUCB(**PAPER, S="log t")
        result = lotor.run(policy, arms, budget=budget, seed=1)
        # Better than any arm but the best few, always.
        assert result.reward / budget > float(np.sort(arms.means)[-3])
        assert result.arms == textbook(policy, arms, budget, 1)[0]


def test_the_papers_configuration_of_spectral_ucb_runs() -> None:
    for arms in paper_arms(30, 10):
        graph = lotor.GraphArms.nearest(arms.vectors, arms.means, neighbours=10)
        policy = lotor.SpectralUCB(**PAPER, C="log t")
        result = lotor.run(policy, graph, budget=30, seed=1)
        assert result.reward / 30 > float(arms.means.mean())
        assert result.arms == textbook(policy, graph, 30, 1)[0]

"""The first test of the form: the same arms and the same total as plain, literally."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.effects import Decision
from lotor.environments import LinearContexts
from lotor.policies.optimistic import BatchedOFUL
from protocols.helba.shared.stage import POLICIES, QUADRATIC, ROOT, contexts

KINDS = ["any", "equal", "axes", "longest", "zero"]


def assert_equals_plain(
    helba: lotor.Helba, arms: LinearContexts, budget: int, seed: int
) -> lotor.Result:
    secure = lotor.run(helba, arms, budget=budget, seed=seed)
    plain = lotor.run(helba.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward
    return secure


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policy=st.sampled_from(POLICIES),
    kind=st.sampled_from(KINDS),
    k=st.integers(2, 5),
    d=st.integers(1, 4),
    rounds=st.integers(1, 24),
    seed=st.integers(0, 2**32),
    bits=st.tuples(st.integers(1, 16), st.integers(1, 12)),
)
def test_secure_equals_plain_arm_by_arm(
    policy: BatchedOFUL,
    kind: str,
    k: int,
    d: int,
    rounds: int,
    seed: int,
    bits: tuple[int, int],
) -> None:
    table = contexts(seed, rounds=rounds, arms=k, d=d, longest=policy.L, kind=kind)
    theta = np.random.default_rng(seed).uniform(-0.5, 0.5, size=d) / d
    arms = LinearContexts(table, theta, noise_sd=0.0 if seed % 3 else 0.5)
    helba = lotor.Helba(policy, context_bits=bits[0], reward_bits=bits[1])
    assert_equals_plain(helba, arms, rounds, seed)


class Extreme(LinearContexts):
    """Pays the highest or the lowest possible reward."""

    def start(self, seed: int):  # type: ignore[no-untyped-def]
        low, high = self.reward_range
        draws = np.random.default_rng(seed).integers(2, size=self.rounds + 1)

        def pull(decision: Decision) -> float:
            return high if draws[decision.round] else low

        return pull


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("d", [1, 3])
def test_extreme_rewards_and_contexts(policy: BatchedOFUL, d: int) -> None:
    table = contexts(d, rounds=20, arms=3, d=d, longest=policy.L, kind="longest")
    arms = Extreme(table, np.full(d, 0.5 / d), noise_sd=0.5)
    assert_equals_plain(lotor.Helba(policy), arms, 20, 4)


@pytest.mark.parametrize("policy", [QUADRATIC, ROOT])
def test_ties_all_the_way(policy: BatchedOFUL) -> None:
    same = contexts(1, rounds=30, arms=6, d=2, longest=5.5, kind="equal")
    result = assert_equals_plain(lotor.Helba(policy), LinearContexts(same, [0.1, 0.1]), 30, 3)
    assert len(set(result.arms or [])) > 3


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.5, 3.0])
def test_batches_of_all_lengths(eta: float) -> None:
    toy = LinearContexts.toy(40, seed=2)
    result = assert_equals_plain(lotor.Helba(BatchedOFUL(eta=eta)), toy, 40, 2)
    assert result.operations["product_words"] > 0


def test_a_single_round() -> None:
    assert_equals_plain(lotor.Helba(), LinearContexts.toy(1, seed=1), 1, 1)


@pytest.mark.parametrize(("policy", "rounds"), [(QUADRATIC, 6), (ROOT, 3)])
def test_ten_dimensions_and_arms(policy: BatchedOFUL, rounds: int) -> None:
    arms = LinearContexts.random(rounds, arms=10, d=10, seed=3)
    assert_equals_plain(lotor.Helba(policy), arms, rounds, 3)


@pytest.mark.long
@pytest.mark.parametrize(("policy", "rounds"), [(QUADRATIC, 130), (ROOT, 60)])
def test_many_rounds_of_ten_dimensions_and_arms(policy: BatchedOFUL, rounds: int) -> None:
    arms = LinearContexts.random(rounds, arms=10, d=10, seed=4)
    assert_equals_plain(lotor.Helba(policy), arms, rounds, 4)


@pytest.mark.parametrize("policy", [QUADRATIC, ROOT])
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 25), marks=pytest.mark.long)], ids=["one", "more"]
)
def test_the_papers_toy_problem(policy: BatchedOFUL, seeds: range) -> None:
    for seed in seeds:
        assert_equals_plain(lotor.Helba(policy), LinearContexts.toy(130, seed=seed), 130, seed)

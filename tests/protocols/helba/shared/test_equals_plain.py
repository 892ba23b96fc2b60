"""The first test of both forms: the same arms and the same total as plain, literally."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
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


@settings(max_examples=30)
@given(
    policy=st.sampled_from(POLICIES),
    kind=st.sampled_from(KINDS),
    k=st.integers(2, 5),
    d=st.integers(1, 4),
    rounds=st.integers(1, 24),
    seed=st.integers(0, 2**32),
    bits=st.tuples(st.integers(1, 16), st.integers(1, 12)),
    users=st.sampled_from([None, None, 1, 2, 5]),
)
def test_secure_equals_plain_arm_by_arm(
    policy: BatchedOFUL,
    kind: str,
    k: int,
    d: int,
    rounds: int,
    seed: int,
    bits: tuple[int, int],
    users: int | None,
) -> None:
    table = contexts(seed, rounds=rounds, arms=k, d=d, longest=policy.L, kind=kind)
    theta = np.random.default_rng(seed).uniform(-0.5, 0.5, size=d) / d
    arms = LinearContexts(table, theta, noise_sd=0.0 if seed % 3 else 0.5)
    helba = lotor.Helba(policy, context_bits=bits[0], reward_bits=bits[1])
    if users is not None:
        helba = replace(helba, servers=2, users=users)
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
@pytest.mark.parametrize(("d", "servers"), [(1, 1), (3, 1), (2, 2)])
def test_extreme_rewards_and_contexts(policy: BatchedOFUL, d: int, servers: int) -> None:
    table = contexts(d, rounds=20, arms=3, d=d, longest=policy.L, kind="longest")
    arms = Extreme(table, np.full(d, 0.5 / d), noise_sd=0.5)
    assert_equals_plain(lotor.Helba(policy, servers=servers), arms, 20, 4)


@pytest.mark.parametrize("helba", [lotor.Helba(), lotor.Helba(ROOT), lotor.Helba(servers=2)])
def test_ties_all_the_way(helba: lotor.Helba) -> None:
    same = contexts(1, rounds=30, arms=6, d=2, longest=5.5, kind="equal")
    result = assert_equals_plain(helba, LinearContexts(same, [0.1, 0.1]), 30, 3)
    assert len(set(result.arms or [])) > 3


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("servers", [1, 2])
def test_batches_of_all_lengths(eta: float, servers: int) -> None:
    toy = LinearContexts.toy(40, seed=2)
    helba = lotor.Helba(BatchedOFUL(eta=eta), servers=servers)
    result = assert_equals_plain(helba, toy, 40, 2)
    assert result.operations["product_words"] > 0


@pytest.mark.parametrize("helba", [lotor.Helba(), lotor.Helba(servers=2, users=3)])
def test_a_single_round(helba: lotor.Helba) -> None:
    assert_equals_plain(helba, LinearContexts.toy(1, seed=1), 1, 1)


@pytest.mark.parametrize(
    ("helba", "rounds"),
    [(lotor.Helba(), 6), (lotor.Helba(ROOT), 3), (lotor.Helba(servers=2, users=3), 3)],
)
def test_ten_dimensions_and_arms(helba: lotor.Helba, rounds: int) -> None:
    arms = LinearContexts.random(rounds, arms=10, d=10, seed=3)
    assert_equals_plain(helba, arms, rounds, 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("helba", "rounds"),
    [(lotor.Helba(), 130), (lotor.Helba(ROOT), 60), (lotor.Helba(ROOT, servers=2), 12)],
)
def test_many_rounds_of_ten_dimensions_and_arms(helba: lotor.Helba, rounds: int) -> None:
    arms = LinearContexts.random(rounds, arms=10, d=10, seed=4)
    assert_equals_plain(helba, arms, rounds, 4)


@pytest.mark.parametrize("policy", [QUADRATIC, ROOT])
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 25), marks=pytest.mark.long)], ids=["one", "more"]
)
def test_the_papers_toy_problem(policy: BatchedOFUL, seeds: range) -> None:
    for seed in seeds:
        assert_equals_plain(lotor.Helba(policy), LinearContexts.toy(130, seed=seed), 130, seed)

"""Live rewards: secure and plain are literally the same, on the rewards of any world."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from crypto.paillier.fixed_keys import fixed_key
from helpers import Outcome, run_openly
from lotor.core.effects import Decision
from lotor.environments import Environment
from lotor.policies.linear import LinearPolicy
from lotor.policies.linear.layout import LEAST_BOUND
from lotor.protocols.linucb_ds.live.complexity import live_counts
from protocols.linucb_ds.instances import instances, sampling, vectors
from protocols.linucb_ds.live.stage import NODES, SHOP, live, shop
from protocols.linucb_ds.stage import BITS, known_keys, small_key, some_arms, some_graph

pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
    # The paper's R covers less noise than these arms have; nothing here depends on it.
    pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def wide_enough(instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int]) -> bool:
    """Whether rewards lie in a range that live rewards have room for."""
    low, high = instance[0].reward_range
    return high - low >= LEAST_BOUND


LIVE_INSTANCES = instances().filter(wide_enough)


def check(policy: LinearPolicy, arms: Environment, budget: int, seed: int) -> Outcome:
    protocol = live(policy)
    secure = run_openly(protocol, arms, budget=budget, seed=seed)
    plain = lotor.run(protocol.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.seats["customer"].output == plain.reward
    assert [reward for _, _, reward in secure.recorder.pulls] == plain.rewards
    return secure


@settings(max_examples=30)
@given(LIVE_INSTANCES)
def test_linucb_on_noisy_linear_arms(
    instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int],
) -> None:
    """The world draws the noise now, and it is the same one in plain."""
    arms, policy, budget, seed = instance
    secure = check(policy, arms, budget, seed)
    if arms.first is not None:
        assert secure.arms[0] == arms.first


@settings(max_examples=12)
@given(LIVE_INSTANCES, st.sampled_from([0.0, 0.3, 1.0]))
def test_linear_thompson_sampling(
    instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int], scale: float
) -> None:
    arms, policy, budget, seed = instance
    check(sampling(policy, scale), arms, budget, seed)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(2, 12))
def test_spectral_ucb(seed: int, k: int, budget: int) -> None:
    check(lotor.SpectralUCB(C=20.0), some_graph(seed, k=k), budget, seed)


@settings(max_examples=25)
@given(
    vectors(),
    st.integers(2, 12),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1), min_size=12, max_size=12),
    st.integers(-60, 60),
    st.sampled_from([-1.0, -0.5, 0.0, 7.0]),
)
def test_whatever_a_function_pays(
    instance: tuple[np.ndarray, int], budget: int, paid: list[float], bits: int, low: float
) -> None:
    """Any rewards of any range, its ends among them: nothing needs to be linear."""
    x, seed = instance
    width = 2.0**bits
    start, end = low * width, (low + 1) * width

    def pull(decision: Decision) -> float:
        return min(end, start + width * paid[decision.round - 1])

    gamma = float(np.square(x).sum(axis=1).max())
    arms = lotor.VectorArms(x, pull, reward_range=(start, end))
    check(lotor.LinUCB(gamma=gamma, R=width), arms, budget, seed)


def test_own_functions_on_vectors_and_on_a_graph() -> None:
    assert len(set(check(lotor.LinUCB(), SHOP, 40, 1).arms)) > 1
    check(lotor.SpectralUCB(), NODES, 30, 1)
    check(lotor.LinUCB(), shop(lambda one: 3.0 if one.arm else -1.0, -1.0, 3.0), 20, 1)


def test_equal_arms_tie_in_every_round() -> None:
    arms = lotor.VectorArms([[1.0, 0.0]] * 4 + [[0.5, 0.0]], lambda _: 1.0)
    assert set(check(lotor.LinUCB(), arms, 80, 3).arms) >= {0, 1, 2, 3}


def test_the_papers_constants() -> None:
    policy = lotor.LinUCB(gamma=0.01, delta=0.001, R=0.01, S="log t")
    check(policy, some_arms(1, k=15, d=3), 40, 1)


def test_a_world_that_answers_later() -> None:
    async def pull(decision: Decision) -> float:
        return decision.arm / 4

    arms = lotor.VectorArms([[1.0, 0.0], [0.0, 1.0]], pull)
    protocol = live()
    secure, plain = (lotor.run(one, arms, budget=9, seed=1) for one in (protocol, protocol.plain()))
    assert secure.agrees_with(plain)
    assert secure.reward == plain.reward


@pytest.mark.parametrize(("bits", "workers"), [(2048, 2), (3072, 1)])
def test_real_key_sizes(bits: int, workers: int) -> None:
    with known_keys(fixed_key(bits), fixed_key(bits)):
        protocol = lotor.LinUCBDS(key_bits=bits, workers=workers, form="paper-live")
        arms = some_arms(2, k=30, d=2)
        secure = lotor.run(protocol, arms, budget=3, seed=1)
    assert secure.agrees_with(lotor.run(protocol.plain(), arms, budget=3, seed=1))
    assert secure.operations["paillier_decryptions"] == 2 * 2 + 2


@pytest.mark.parametrize(("n", "k", "d"), [(2, 2, 1), (5, 3, 2), (9, 15, 3)])
def test_counted_operations_are_those_expected(n: int, k: int, d: int) -> None:
    result = lotor.run(live(), some_arms(1, k=k, d=d), budget=n, seed=1)
    expected = live_counts(n, k, key_bits=BITS)
    assert {name: result.operations[name] for name in expected} == expected
    assert (result.operations["signatures"], result.operations["verifications"]) == (3, 3)


def test_a_run_that_is_stopped_adds_up_what_came() -> None:
    result = lotor.run(live(), SHOP, budget=30, seed=1, on_round=lambda one: one.round == 7)
    assert result.rewards is not None
    assert len(result.rewards) == 7
    assert result.reward == pytest.approx(sum(result.rewards), abs=1e-6)

"""Secure and plain are literally the same: every arm, every integer, the total."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from crypto.paillier.fixed_keys import fixed_key
from helpers import Outcome, run_openly
from lotor.policies.linear import LinearPolicy
from lotor.protocols.linucb_ds.protocol import PaperSlotBits
from lotor.protocols.plain import Plain
from protocols.linucb_ds.instances import instances, sampling
from protocols.linucb_ds.stage import (
    decrypted_sum,
    exact_sum,
    known_keys,
    layout_of,
    small,
    small_key,
    some_arms,
    some_graph,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
    # The paper's R covers less noise than these arms have; nothing here depends on it.
    pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning"),
]

PAPER = {"gamma": 0.01, "delta": 0.001, "R": 0.01}


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def check(protocol: lotor.LinUCBDS, arms: lotor.LinearArms, budget: int, seed: int) -> Outcome:
    secure = run_openly(protocol, arms, budget=budget, seed=seed)
    plain = lotor.run(protocol.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert decrypted_sum(secure) == exact_sum(secure)
    total = secure.seats["customer"].output
    assert total == plain.reward == layout_of(secure).reward(exact_sum(secure))
    return secure


@settings(max_examples=60)
@given(instances(), st.sampled_from([64, 96]))
def test_linucb_ds_equals_plain(
    instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int], slot_bits: PaperSlotBits
) -> None:
    arms, policy, budget, seed = instance
    secure = check(small(policy, slot_bits), arms, budget, seed)
    if arms.first is not None:
        assert secure.arms[0] == arms.first


@settings(max_examples=20)
@given(instances(), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([64, 96]))
def test_linear_thompson_sampling_equals_plain(
    instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int],
    scale: float,
    slot_bits: PaperSlotBits,
) -> None:
    arms, policy, budget, seed = instance
    check(small(sampling(policy, scale), slot_bits), arms, budget, seed)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(2, 12), st.sampled_from([64, 96]))
def test_spectral_ucb_ds_equals_plain(
    seed: int, k: int, budget: int, slot_bits: PaperSlotBits
) -> None:
    check(small(lotor.SpectralUCB(C=20.0), slot_bits), some_graph(seed, k=k), budget, seed)


@pytest.mark.parametrize("slot_bits", [64, 96])
def test_equal_and_nearly_equal_arms_over_many_rounds(slot_bits: PaperSlotBits) -> None:
    """Ties in every round: of equal scores the first of the round's order wins on both sides."""
    x = np.array([[1.0, 0.0]] * 4 + [[1 - gap, 0.0] for gap in (1e-12, 1e-9, 1e-6)])
    secure = check(small(slot_bits=slot_bits), lotor.LinearArms(x, [0.5, 0.1]), 150, 3)
    assert set(secure.arms) >= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("policy", "arms"),
    [
        (lotor.LinUCB(**PAPER, S="log t"), some_arms(1, k=15, d=3)),
        (lotor.SpectralUCB(**PAPER, C="log t"), some_graph(1, k=15)),
    ],
    ids=["linucb", "spectral-ucb"],
)
def test_the_papers_constants(policy: LinearPolicy, arms: lotor.LinearArms) -> None:
    check(small(policy), arms, 60, 1)


@pytest.mark.parametrize("bits", [2048, 3072])
def test_real_key_sizes(bits: int) -> None:
    """Comp's key is of that size and the customer's of the other, so that they are not mixed up."""
    with known_keys(fixed_key(bits), fixed_key(5120 - bits)):
        protocol = lotor.LinUCBDS(key_bits=bits, form="paper")
        secure = check(protocol, some_arms(2, k=50, d=3), 4, 1)
    assert secure.parties["comp"].operations()["paillier_decryptions"] == 3 * 2 + 1


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers(workers: int) -> None:
    arms = some_arms(4, k=20, d=3)
    protocol = lotor.LinUCBDS(insecure_key_bits=512, workers=workers, form="paper")
    check(protocol, arms, 5, 1)


def test_two_runs_with_one_seed_have_equal_arms() -> None:
    arms = some_arms(5, k=9, d=2)
    first, again, other = (lotor.run(small(), arms, budget=30, seed=seed) for seed in (1, 1, 2))
    assert first.agrees_with(again)
    assert not first.agrees_with(other)
    assert first.agrees_with(lotor.run(Plain(lotor.LinUCB()), arms, budget=30, seed=1))


def test_a_result_names_its_protocol_and_options() -> None:
    result = lotor.run(small(slot_bits=96), some_arms(6, k=3, d=2), budget=5, seed=1)
    assert (result.protocol, result.k, result.budget) == ("linucb-ds", 3, 5)
    assert result.options["slot_bits"] == 96
    assert result.options["key_bits"] == 512
    assert set(result.parties) == {"customer", "owner", "principal", "comp"}
    assert lotor.Result.from_json(result.to_json()) == result

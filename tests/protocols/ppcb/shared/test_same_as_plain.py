"""Every decision without a dealer is that of floats, but where their scores all but tie."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.protocols.dealerless.messages import (
    Choices,
    Differences,
    Labels,
    OfferedWords,
    PreparedTables,
)
from lotor.protocols.ppcb.messages import Features, Reward
from lotor.protocols.two_server.messages import Opened
from protocols.ppcb.agreement import Instance, check, instances, uneven_arms
from protocols.ppcb.stage import play, some_arms


@settings(max_examples=15)
@given(instances("shared"))
def test_every_decision_is_that_of_floats(instance: Instance) -> None:
    check(*instance)


@settings(max_examples=4)
@given(st.integers(0, 2**32), st.sampled_from([16, 24]), st.integers(0, 2))
def test_any_rewards_and_contexts(seed: int, bits: int, delay: int) -> None:
    arms = uneven_arms(seed)
    check(lotor.PPCB(epsilon=0.2, bits=bits, delay=delay), arms, 12, seed)


@pytest.mark.parametrize("k", [33, pytest.param(160, marks=pytest.mark.long)])
def test_more_arms_than_features(k: int) -> None:
    check(lotor.PPCB(epsilon=0.3, bits=16), some_arms(2, rounds=12, k=k, d=3), 12, 5)


@pytest.mark.parametrize("d", [40, pytest.param(100, marks=pytest.mark.long)])
def test_many_features(d: int) -> None:
    check(lotor.PPCB(epsilon=0.3), some_arms(3, rounds=8, k=3, d=d), 8, 5)


@pytest.mark.parametrize("reciprocal", ["shares", "garbled"])
def test_the_longest_contexts_that_are_accepted(reciprocal: Literal["shares", "garbled"]) -> None:
    """Their squares are 1 + SLACK, and so is x·u the first time."""
    arms = lotor.ContextualArms(np.zeros((8, 2)), np.tile([0.25, 1.0], (8, 1)))
    # No environment has such contexts; of two owners neither knows that they are too long.
    object.__setattr__(arms, "contexts", np.tile([1.0, 1 / 16], (8, 1)))
    check(lotor.PPCB(epsilon=0.5, reciprocal=reciprocal), arms, 8, 3)


@pytest.mark.parametrize(
    ("rounds", "bits", "reciprocal"),
    [
        (60, 20, "shares"),
        (60, 16, "garbled"),
        *(
            pytest.param(1797, bits, reciprocal, marks=pytest.mark.long)
            for bits, reciprocal in (
                (16, "shares"),
                (20, "shares"),
                (24, "shares"),
                (20, "garbled"),
            )
        ),
    ],
)
def test_digits(rounds: int, bits: int, reciprocal: Literal["shares", "garbled"]) -> None:
    """Under this seed no two scores come near each other: not one arm differs from plain's."""
    arms, seed = lotor.ContextualArms.digits(), 1
    protocol = lotor.PPCB(bits=bits, reciprocal=reciprocal)
    plain = lotor.run(protocol.plain(), arms, budget=rounds, seed=seed)
    assert check(protocol, arms, rounds, seed).arms == plain.arms


def test_two_runs_with_one_seed_have_equal_arms_and_other_shares() -> None:
    arms = some_arms(5, rounds=15, k=3, d=2)
    runs = [play(lotor.PPCB(epsilon=0.3), arms, budget=15, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].arms == runs[1].arms != runs[2].arms
    kinds = Choices, OfferedWords, PreparedTables, Opened, Differences, Labels, Features, Reward
    shares = [
        {
            one.payload
            for one in run.recorder.exchanges
            if isinstance(one.message, kinds) and len(one.payload) > 60
        }
        for run in runs
    ]
    assert not shares[0] & shares[1]


def test_a_result_names_its_protocol_options_and_parties() -> None:
    arms = some_arms(6, rounds=5, k=3, d=3)
    result = lotor.run(lotor.PPCB(bits=16, delay=1), arms, budget=5, seed=1)
    assert result.options["form"] == "shared"
    assert result.options["reciprocal"] == "shares"
    owners = {"owner-1", "owner-2"}
    assert set(result.parties) == owners | {"receiver", "actor", "server-0", "server-1"}
    # Three features in each of five steps, and the four rewards that are learnt from.
    assert result.operations["values_shared"] == 5 * 3 + 4
    assert lotor.Result.from_json(result.to_json()) == result

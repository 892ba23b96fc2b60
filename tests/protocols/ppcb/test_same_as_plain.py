"""Every decision is that of floats on the same trajectory, but where their scores all but tie."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.crypto.sharing import TOURNAMENT
from protocols.ppcb.agreement import Instance, check, instances, resolution, uneven_arms
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    judged,
    learning,
    play,
    some_arms,
    traced_once,
)


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


@settings(max_examples=30)
@given(instances("dealt"))
def test_every_decision_is_that_of_floats(instance: Instance) -> None:
    check(*instance)


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.sampled_from([16, 24]), st.integers(0, 2))
def test_any_rewards_and_contexts(seed: int, bits: int, delay: int) -> None:
    arms = uneven_arms(seed)
    check(lotor.PPCB(epsilon=0.2, bits=bits, delay=delay, form="dealt"), arms, 12, seed)


@pytest.mark.parametrize("bits", [16, 24])
def test_the_first_digits(bits: int) -> None:
    check(lotor.PPCB(bits=bits, form="dealt"), lotor.ContextualArms.digits(), 90, 1)


@pytest.mark.parametrize("rounds", [300, pytest.param(1797, marks=pytest.mark.long)])
def test_all_digits(rounds: int) -> None:
    """Under this seed no two scores come nearer than the resolution: not one arm may differ."""
    arms, seed = lotor.ContextualArms.digits(), 1
    protocol = lotor.PPCB(owners=4, form="dealt")
    plain = lotor.run(protocol.plain(), arms, budget=rounds, seed=seed)
    assert plain.arms is not None
    decisions, _ = judged(protocol, arms, plain.arms, seed)
    gaps = [(found.gap, found.t) for found in decisions if not found.explores]
    assert all(gap > resolution(protocol, t) for gap, t in gaps)
    assert check(protocol, arms, rounds, seed).arms == plain.arms


def test_two_runs_with_one_seed_have_equal_arms_and_other_shares() -> None:
    arms = some_arms(5, rounds=15, k=3, d=2)
    runs = [
        play(lotor.PPCB(epsilon=0.3, form="dealt"), arms, budget=15, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert runs[0].arms == runs[1].arms != runs[2].arms
    shares = [
        {seen.payload for seen in run.recorder.exchanges if len(seen.payload) > 60} for run in runs
    ]
    assert not shares[0] & shares[1]


def test_a_result_names_its_protocol_options_and_parties() -> None:
    arms = some_arms(6, rounds=5, k=3, d=3)
    result = lotor.run(lotor.PPCB(bits=16, delay=1, form="dealt"), arms, budget=5, seed=1)
    assert (result.protocol, result.k, result.budget, result.rounds) == ("ppcb", 3, 5, 5)
    assert (result.options["bits"], result.options["delay"], result.options["owners"]) == (16, 1, 2)
    owners = {"owner-1", "owner-2"}
    assert set(result.parties) == owners | {"receiver", "actor", "dealer", "server-0", "server-1"}
    # Three features in each of five steps, and the four rewards that are learnt from.
    assert result.operations["values_shared"] == 5 * 3 + 4
    assert lotor.Result.from_json(result.to_json()) == result


def test_many_arms_are_compared_in_a_tournament() -> None:
    arms = lotor.ContextualArms.lookalike(rounds=12, arms=TOURNAMENT + 9, d=3, seed=2)
    ppcb = lotor.PPCB(epsilon=0.3, bits=16, form="dealt")
    secure = lotor.run(ppcb, arms, budget=12, seed=5)
    assert secure.agrees_with(lotor.run(ppcb.plain(), arms, budget=12, seed=5))

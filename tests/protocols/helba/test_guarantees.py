"""What the paper proves of HELBA holds in runs."""

from dataclasses import replace

import pytest

import lotor
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.guarantees import most_updates, near_best, regret_bound

PAPER = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)


@pytest.mark.parametrize(
    ("rounds", "updates", "most"), [(130, 32, 67), (1000, 53, 93), (5000, 70, 113)]
)
def test_a_run_keeps_to_proposition_7_and_theorem_8(rounds: int, updates: int, most: int) -> None:
    toy = lotor.LinearContexts.toy(rounds, seed=0)
    result = lotor.run(PAPER, toy, budget=rounds, seed=0)
    assert result.operations["updates"] == updates
    assert round(most_updates(PAPER, 2, rounds)) == most
    bound = regret_bound(PAPER, 2, rounds)
    assert bound is not None
    assert toy.regret(result.arms or []) < bound


@pytest.mark.parametrize("eta", [0.1, 0.5, 2.0])
def test_eta_alone_allows_no_more_estimates_than_it_is_said_to(eta: float) -> None:
    policy = BatchedOFUL(eta=eta)
    result = lotor.run(policy, lotor.LinearContexts.toy(400, seed=1), budget=400, seed=1)
    assert result.operations["updates"] <= most_updates(policy, 2, 400)


def test_where_the_paper_says_nothing_there_is_no_bound() -> None:
    assert most_updates(BatchedOFUL(), 2, 130) == 130
    # C is too small for Proposition 7.
    assert most_updates(replace(PAPER, C=0.1), 2, 130) == 130
    for policy in (BatchedOFUL(), replace(PAPER, width="public"), replace(PAPER, C=None)):
        assert regret_bound(policy, 2, 130) is None


def test_the_bounds_grow_as_they_should() -> None:
    bounds = [regret_bound(PAPER, 2, rounds) or 0 for rounds in (10**4, 10**6, 10**8)]
    assert bounds == sorted(bounds)
    # Of the order of d sqrt(T) ln T.
    assert 10 < bounds[2] / bounds[1] < 20
    assert near_best(PAPER, 100, 5.0) < near_best(PAPER, 10, 5.0)

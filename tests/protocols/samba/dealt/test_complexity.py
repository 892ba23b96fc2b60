"""Counted exchanges and bytes are those that the form foresees."""

import pytest

import lotor
from lotor.policies import Policy
from lotor.protocols.samba.dealt.circuit import selection
from lotor.protocols.samba.dealt.form import SambaDealt
from lotor.protocols.samba.dealt.terms import MOST_ARMS, SambaDealtTerms

FRAME = 15 << 20


def terms(k: int, budget: int) -> SambaDealtTerms:
    return SambaDealtTerms(
        run="", budget=budget, owners={"owner": k}, policy="ucb", iterations=1, low=0.0, high=1.0
    )


@pytest.mark.parametrize("policy", [lotor.UCB(), lotor.Pursuit()], ids=str)
@pytest.mark.parametrize(("k", "owners"), [(1, 1), (5, 2), (25, 3)])
def test_counts(policy: Policy, k: int, owners: int) -> None:
    samba, arms = lotor.Samba(policy, owners=owners, form="dealt"), lotor.BernoulliArms([0.5] * k)
    result = lotor.run(samba, arms, budget=k + 20, seed=1)
    counts = SambaDealt().complexity(samba, arms, k + 20)
    expected = counts["expected"]
    assert {name: result.operations.get(name, 0) for name in expected} == expected
    assert counts["per_iteration"]["values_shared"] == k


@pytest.mark.parametrize(
    ("k", "rounds"), [(1, 0), (2, 4), (20, 4), (21, 7), (159, 7), (160, 16), (1000, 16)]
)
def test_exchanges(k: int, rounds: int) -> None:
    assert selection(terms(k, k + 1)).recipe.rounds == rounds


def test_what_is_dealt_for_most_arms_fits_in_a_frame() -> None:
    for k in (20, 159, 1000, MOST_ARMS):
        recipe = selection(terms(k, k + 1)).recipe
        assert max(recipe.correction_bytes, recipe.opened) < FRAME


def test_a_forecast_says_exchanges_and_bytes() -> None:
    samba = lotor.Samba(form="dealt")
    forecast = SambaDealt().forecast(samba, lotor.BernoulliArms([0.5] * 10), 110)
    assert forecast.rows["rounds"] == "400"
    assert forecast.rows["correction bytes"] == "7,216,000"

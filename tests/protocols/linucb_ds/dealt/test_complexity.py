"""Counted exchanges and bytes are those that the form foresees."""

import pytest

import lotor
from helpers import run_openly
from lotor.protocols.linucb_ds.dealt.circuits import circuits
from lotor.protocols.linucb_ds.dealt.complexity import DealtCosts
from lotor.protocols.linucb_ds.dealt.messages import DealtChoice
from lotor.protocols.linucb_ds.dealt.terms import (
    MOST_ARMS,
    MOST_WORDS,
    WORDS_BESIDE,
    LinUCBDealtTerms,
)
from lotor.protocols.two_server.messages import Corrections, Opened
from protocols.linucb_ds.dealt.stage import FORM, SPECTRAL, dealt
from protocols.linucb_ds.stage import some_arms, some_graph

FRAME = 15 << 20


@pytest.mark.parametrize(("n", "k", "d"), [(2, 2, 1), (9, 15, 3), (4, 30, 30)])
def test_counts(n: int, k: int, d: int) -> None:
    arms = some_arms(1, k=k, d=d)
    result = lotor.run(dealt(), arms, budget=n, seed=1)
    expected = FORM.complexity(dealt(), arms, n)["expected"]
    assert {name: result.operations[name] for name in expected} == expected
    # The terms for three, two keys to seal to, two sealed keys.
    assert (result.operations["signatures"], result.operations["verifications"]) == (7, 7)


def test_spectral_counts() -> None:
    protocol, arms = dealt(lotor.SpectralUCB(C=20.0)), some_graph(1, k=9)
    result = lotor.run(protocol, arms, budget=5, seed=1)
    expected = SPECTRAL.complexity(protocol, arms, 5)["expected"]
    assert {name: result.operations[name] for name in expected} == expected


def test_bytes_ahead_and_within_are_what_passes() -> None:
    n, k, d = 8, 30, 4
    costs = DealtCosts(n, k, d)
    passed = run_openly(dealt(), some_arms(1, k=k, d=d), budget=n).recorder.exchanges
    ahead = [one.message.shares for one in passed if isinstance(one.message, Corrections)]
    within = [one.message.shares for one in passed if isinstance(one.message, Opened | DealtChoice)]
    total = circuits(k, d, n).total.recipe
    assert sum(map(len, ahead)) == (n - 1) * costs.ahead_bytes + total.correction_bytes
    assert sum(map(len, within)) == (n - 1) * costs.within_bytes + total.sent
    assert total.sent == 24 * d


@pytest.mark.parametrize(("k", "rounds"), [(2, 6), (20, 6), (21, 9), (159, 9), (1000, 18)])
def test_exchanges_of_a_choice(k: int, rounds: int) -> None:
    """One more than the argmax takes for P's rows, and one for Comp's answer."""
    assert DealtCosts(10, k, 2).rounds == rounds


@pytest.mark.parametrize(
    ("k", "d"), [(1000, 20), (MOST_ARMS, 100), (2, MOST_WORDS // 7), (1000, MOST_WORDS // 1005)]
)
def test_what_is_sent_for_the_most_arms_fits_in_a_frame(k: int, d: int) -> None:
    LinUCBDealtTerms.check_size(k, d)
    computed = circuits(k, d, 10)
    recipes = [one.recipe for one in computed]
    assert max(recipe.opened + recipe.sent for recipe in recipes[:2]) < FRAME
    assert recipes[0].correction_bytes + recipes[1].correction_bytes < FRAME
    # The model: its arms, their eigenvalues, and two shares of theta.
    assert 8 * k * d + 8 * d + (8 + 24) * d == 8 * (k + WORDS_BESIDE) * d <= FRAME
    assert recipes[2].sent <= FRAME


def test_a_forecast_says_exchanges_and_bytes() -> None:
    forecast = FORM.forecast(dealt(), some_arms(1, k=10, d=5), 101)
    assert forecast.title == "101 rounds, 10 arms in 5 dimensions, form dealt"
    assert forecast.rows["choices"] == "100, each of 6 exchanges between principal and comp"
    ahead, within = forecast.figures["bytes_ahead"], forecast.figures["bytes_within"]
    assert isinstance(ahead, int)
    assert isinstance(within, int)
    assert forecast.rows["bytes ahead of a choice"] == f"{ahead:,}, from the dealer"

"""The forms that compute on shares: the same arms and the same total as plain, literally."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.environments import linear_lookalike
from lotor.policies.linear import LinearPolicy
from protocols.linucb_ds.instances import instances, sampling
from protocols.linucb_ds.stage import some_arms, some_graph

FORMS = ["shared", "dealt"]
MOVIELENS = Path(__file__).parents[4] / "shared" / "data" / "movielens-100k" / "u.data"
PAPER = {"gamma": 0.01, "delta": 0.001, "R": 0.01}

pytestmark = [
    pytest.mark.parametrize("form", FORMS),
    # The paper's R covers less noise than these arms have; nothing here depends on it.
    pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning"),
]


def check(policy: LinearPolicy, form: str, arms: lotor.LinearArms, budget: int, seed: int) -> None:
    kind = lotor.SpectralUCBDS if isinstance(policy, lotor.SpectralUCB) else lotor.LinUCBDS
    protocol = kind(policy, form=form)
    secure = lotor.run(protocol, arms, budget=budget, seed=seed)
    plain = lotor.run(protocol.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward


@settings(max_examples=30)
@given(instance=instances())
def test_linucb_ds(form: str, instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int]) -> None:
    """Any K, d and N; ties, twins, collinear arms; theta from 0 up to its bound."""
    arms, policy, budget, seed = instance
    check(policy, form, arms, budget, seed)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 12), budget=st.integers(2, 12))
def test_spectral_ucb_ds(form: str, seed: int, k: int, budget: int) -> None:
    check(lotor.SpectralUCB(C=20.0), form, some_graph(seed, k=k), budget, seed)


@settings(max_examples=15)
@given(instance=instances(), scale=st.sampled_from([0.0, 0.3, 1.0]))
def test_linear_thompson_sampling(
    form: str, instance: tuple[lotor.LinearArms, lotor.LinUCB, int, int], scale: float
) -> None:
    """P draws the samples, and plain draws the same."""
    arms, policy, budget, seed = instance
    check(sampling(policy, scale), form, arms, budget, seed)


def test_equal_and_nearly_equal_arms_over_many_rounds(form: str) -> None:
    """Ties in every round: of equal scores the first of the round's order wins on both sides."""
    x = np.array([[1.0, 0.0]] * 4 + [[1 - gap, 0.0] for gap in (1e-12, 1e-9, 1e-6)])
    check(lotor.LinUCB(), form, lotor.LinearArms(x, [0.5, 0.1]), 100, 3)


@pytest.mark.parametrize(
    ("policy", "arms"),
    [
        (lotor.LinUCB(**PAPER, S="log t"), some_arms(1, k=15, d=3)),
        (lotor.SpectralUCB(**PAPER, C="log t"), some_graph(1, k=15)),
    ],
    ids=["linucb", "spectral-ucb"],
)
def test_the_papers_constants(form: str, policy: LinearPolicy, arms: lotor.LinearArms) -> None:
    check(policy, form, arms, 40, 1)


@pytest.mark.parametrize(("k", "d"), [(2, 1), (21, 40), (200, 3)])
def test_few_and_many_arms_and_dimensions(form: str, k: int, d: int) -> None:
    """From one pair up to a tournament."""
    check(lotor.LinUCB(), form, some_arms(k, k=k, d=d), 8, 1)


def test_the_largest_noise_fits_in_the_total(form: str) -> None:
    noise = [4.0e9, -4.2e9, 1.0, 4.0e9]
    arms = lotor.LinearArms([[1.0], [-1.0]], [1.0], noise=noise)
    check(lotor.LinUCB(R=1.0), form, arms, len(noise), 2)


@pytest.mark.long
@pytest.mark.parametrize("source", ["MovieLens", "look-alike"])
def test_fifty_films_over_a_thousand_rounds(form: str, source: str) -> None:
    """The paper's largest experiment on factors of ratings."""
    if source == "look-alike":
        arms = linear_lookalike("movielens-factors-like", k=50, d=5)
    elif MOVIELENS.exists():
        arms = lotor.LinearArms.movielens(MOVIELENS, k=50, d=5, user=1, cache=None)
    else:
        pytest.skip("needs MovieLens in ../shared/data/movielens-100k")
    check(lotor.LinUCB(**PAPER, S="log t"), form, arms, 1_000, 1)

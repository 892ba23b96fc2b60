from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, Floats
from lotor.crypto.prf import Prf
from lotor.policies import KLUCB, REWARD_ONE, UCB, ArmSnapshot, ArmStates, Draws
from lotor.policies.kl_ucb import upper_bound

DRAWS = Draws(Prf(bytes(32)), Prf(bytes(32)))

near_an_end = st.floats(0.0, 17.0).map(lambda x: 10.0**-x)
probabilities = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1), near_an_end, near_an_end.map(lambda x: 1 - x)
)
# From ln 2 / 2^31 to the logarithm of the largest budget.
divergences = st.floats(-9.5, 1.4).map(lambda x: 10.0**x)
pairs = st.lists(st.tuples(probabilities, divergences), min_size=1, max_size=6)


def bisected(p: Floats, divergence: Floats) -> Floats:
    """The textbook's way to the same bound."""
    low, high = p.copy(), np.ones_like(p)
    for _ in range(60):
        middle = (low + high) / 2
        inside = rel_entr(p, middle) + rel_entr(1 - p, 1 - middle) <= divergence
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


@given(pairs)
def test_the_bound_is_the_one_that_bisection_finds(given_pairs: list[tuple[float, float]]) -> None:
    p, divergence = np.array(given_pairs).T
    found = upper_bound(p, divergence)
    assert ((p - 1e-15 <= found) & (found <= 1)).all()
    # Near its minimum the divergence is flat: rounding by 2^-53 moves a bound by 1e-11 at most.
    assert found == pytest.approx(bisected(p, divergence), abs=2e-11)


@given(
    st.lists(st.tuples(st.integers(1, MAXIMAL_BUDGET), probabilities), min_size=2, max_size=9),
    st.integers(2, MAXIMAL_BUDGET),
    st.floats(0, 5),
)
def test_an_arm_has_the_same_score_alone_and_among_others(
    arms: list[tuple[int, float]], t: int, c: float
) -> None:
    n = [pulls for pulls, _ in arms]
    s = [round(pulls * mean * REWARD_ONE) for pulls, mean in arms]

    def scores(i: int, j: int) -> list[float]:
        held = ArmStates.restore(ArmSnapshot(k=len(arms), n=n[i:j], s=s[i:j], own={}))
        return list(KLUCB(c).score(held, t, 1, DRAWS))

    together = scores(0, len(arms))
    assert together == [one for i in range(len(arms)) for one in scores(i, i + 1)]
    held = ArmStates.restore(ArmSnapshot(k=len(arms), n=n, s=s, own={}))
    if c == 0:
        assert (np.array(together) <= UCB().score(held, t, 1, DRAWS) + 1e-12).all()


def test_the_formula() -> None:
    snapshot = ArmSnapshot(k=2, n=[1, 4], s=[0, 3 * REWARD_ONE], own={})
    arms = ArmStates.restore(snapshot)
    zero, three_quarters = KLUCB().score(arms, 16, 1, DRAWS)
    # kl(0, q) = -ln(1 - q), so that q = 1 - 1/t after one pull.
    assert zero == pytest.approx(1 - 1 / 16, abs=1e-12)
    divergence = 0.75 * log(0.75 / three_quarters) + 0.25 * log(0.25 / (1 - three_quarters))
    assert divergence == pytest.approx(log(16) / 4, abs=1e-12)
    wider = KLUCB(c=3).score(arms, 16, 1, DRAWS)
    assert wider[0] == pytest.approx(1 - 1 / (16 * log(16) ** 3), abs=1e-12)


@pytest.mark.parametrize("c", [-0.1, nan, inf, "3", None, True])
def test_a_constant_that_cannot_be_is_refused(c: float) -> None:
    with pytest.raises(InputError, match="c is"):
        KLUCB(c)


def test_it_wins_where_means_are_small() -> None:
    """UCB's bound does not know that an arm that seldom pays varies little."""
    arms = lotor.BernoulliArms([0.1, 0.02, 0.02, 0.02])
    for seed in range(3):
        mine, others = (
            (lotor.run(policy, arms, budget=3000, seed=seed).arms or []).count(0)
            for policy in (KLUCB(), UCB())
        )
        assert mine > 1.5 * others

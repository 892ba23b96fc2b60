"""The two policies for changing arms, against the sums that the paper states."""

from math import inf, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.crypto.prf import Prf
from lotor.policies import (
    REWARD_ONE,
    UCB,
    ArmStates,
    DiscountedUCB,
    Draws,
    Policy,
    SlidingWindowUCB,
    to_text,
)
from lotor.policies.forgetting import FORGOTTEN

K = 3
histories = st.lists(st.tuples(st.integers(0, K - 1), st.integers(0, 8)), max_size=40)


def played(policy: Policy, history: list[tuple[int, int]]) -> tuple[ArmStates, Draws]:
    """Each arm once, then the pulls of a history; rewards are eighths."""
    arms, draws = ArmStates(K, K), Draws(Prf(bytes(32), range(K)), Prf(bytes(32)))
    policy.start(arms)
    for t, (arm, eighths) in enumerate(history, 1):
        policy.learn(arms, arm, eighths * REWARD_ONE // 8, draws.at(t, 0))
    return arms, draws


@given(histories, st.floats(0.05, 0.999), st.floats(0.1, 4))
def test_discounted_ucb_is_the_formula(
    later: list[tuple[int, int]], gamma: float, xi: float
) -> None:
    history = [(0, 1), (1, 8), (2, 0), *later]
    policy = DiscountedUCB(gamma, xi)
    arms, draws = played(policy, history)
    t = len(history)
    found = policy.score(arms, t + 1, 1, draws.at(t + 1, 1))
    n = [sum(gamma ** (t - s) for s, (a, _) in enumerate(history, 1) if a == i) for i in range(K)]
    paid = [
        sum(gamma ** (t - s) * x / 8 for s, (a, x) in enumerate(history, 1) if a == i)
        for i in range(K)
    ]
    expected = [paid[i] / n[i] + 2 * sqrt(xi * log(sum(n)) / n[i]) for i in range(K)]
    # A weight too small for floats is that of an arm that comes first in either case.
    assert found == pytest.approx(np.minimum(expected, FORGOTTEN), rel=1e-6, abs=2)
    close = np.array(expected) < 1e3
    assert found[close] == pytest.approx(np.array(expected)[close], rel=1e-9)


@given(histories, st.integers(1, 50), st.floats(0.1, 4))
def test_sliding_window_ucb_is_the_formula(
    later: list[tuple[int, int]], tau: int, xi: float
) -> None:
    history = [(0, 1), (1, 8), (2, 0), *later]
    policy = SlidingWindowUCB(tau, xi)
    arms, draws = played(policy, history)
    t = len(history)
    found = policy.score(arms, t + 1, 1, draws.at(t + 1, 1))
    for i in range(K):
        window = [x / 8 for a, x in history[-tau:] if a == i]
        width = sqrt(xi * log(min(t, tau)) / len(window)) if window else 0
        expected = sum(window) / len(window) + width if window else FORGOTTEN
        assert found[i] == pytest.approx(expected, rel=1e-12)


FORGETFUL = [DiscountedUCB(), SlidingWindowUCB()]


@pytest.mark.parametrize("policy", FORGETFUL, ids=to_text)
def test_they_find_an_arm_that_became_better(policy: Policy) -> None:
    """UCB remembers 10,000 rounds, and looks at the arm again only thousands of rounds later."""
    arms = lotor.ChangingArms([(1, [0.8, 0.0]), (10_001, [0.8, 1.0])])
    for seed in range(2):
        mine, others = (
            (lotor.run(one, arms, budget=11_000, seed=seed).arms or [])[10_000:].count(1)
            for one in (policy, UCB())
        )
        assert mine > 800
        assert others < 100


@pytest.mark.parametrize("form", ["shared", "dealt", "paper"])
@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
@settings(max_examples=10)
@given(
    policy=st.one_of(
        st.builds(DiscountedUCB, st.floats(0.01, 0.999)),
        st.builds(SlidingWindowUCB, st.integers(1, 30)),
    ),
    seed=st.integers(0, 2**48),
    owners=st.integers(1, 4),
)
def test_secure_equals_plain(form: str, policy: Policy, seed: int, owners: int) -> None:
    arms = lotor.ChangingArms([(1, [0.9, 0.1, 0.5, 0.0]), (20, [0.1, 0.9, 0.5, 1.0])])
    keys = {"insecure_key_bits": 128} if form == "paper" else {}
    samba = lotor.Samba(policy, owners=owners, form=form, **keys)  # type: ignore[arg-type]
    secure = lotor.run(samba, arms, budget=40, seed=seed)
    assert secure.agrees_with(lotor.run(samba.plain(), arms, budget=40, seed=seed))


@pytest.mark.parametrize("gamma", [0, 1, -0.5, nan, inf, "0.9", None])
def test_a_discount_that_cannot_be_is_refused(gamma: float) -> None:
    with pytest.raises(InputError, match="gamma is"):
        DiscountedUCB(gamma)


@pytest.mark.parametrize("tau", [0, -1, 1.5, nan, inf, 2**20 + 1, "9", None])
def test_a_window_that_cannot_be_is_refused(tau: int) -> None:
    with pytest.raises(InputError, match="tau is"):
        SlidingWindowUCB(tau)


@pytest.mark.parametrize("kind", [DiscountedUCB, SlidingWindowUCB])
@pytest.mark.parametrize("xi", [0, -1, nan, inf, 2e6, "1", None])
def test_a_width_that_cannot_be_is_refused(
    kind: type[DiscountedUCB] | type[SlidingWindowUCB], xi: float
) -> None:
    with pytest.raises(InputError, match="xi is"):
        kind(xi=xi)


def test_a_window_from_the_command_line_is_a_whole_number() -> None:
    assert to_text(SlidingWindowUCB(tau=30.0)) == "sliding-window-ucb:tau=30,xi=0.5"  # type: ignore[arg-type]

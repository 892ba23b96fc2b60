"""What every form is held against: floats that learn from the same arms and rewards."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import strategies as st

import lotor
from helpers import Outcome
from protocols.ppcb.stage import judged, play, some_arms, terms_of, weights_of

# A score is off by less than a unit for each weight that is cut off where it is used, and by what
# at most n updates were off: their context by half a unit in the last place, u, g and k by far
# less. So its error has a standard deviation of at most about sqrt(n) units, and the difference of
# two scores one of sqrt(2 n).
UNITS = 8

Instance = tuple[lotor.PPCB, lotor.ContextualArms, int, int]


def resolution(protocol: lotor.PPCB, t: int) -> float:
    """What a gap between scores must exceed in step t, so that floats decide alike."""
    return UNITS * sqrt(t) * 2.0**-protocol.bits


def check(protocol: lotor.PPCB, arms: lotor.ContextualArms, budget: int, seed: int) -> Outcome:
    """A run whose every decision is that of floats, but where their scores all but tie."""
    secure = play(protocol, arms, budget=budget, seed=seed)
    assert len(secure.arms) == terms_of(secure).steps
    decisions, weights = judged(protocol, arms, secure.arms, seed)
    for decision in decisions:
        least = resolution(protocol, decision.t)
        if decision.explores or decision.gap > least:
            assert decision.arm == decision.expected
        else:
            assert decision.short <= least
    assert np.abs(weights_of(secure.parties) - weights).max() <= resolution(protocol, budget)
    paid = arms.start(seed)
    total = sum(paid(seen) for _, seen in secure.recorder.acts)
    assert secure.seats["receiver"].output == pytest.approx(total, abs=1e-6)
    return secure


@st.composite
def instances(draw: st.DrawFn, form: str) -> Instance:
    d = draw(st.integers(1, 6))
    budget = draw(st.integers(1, 20))
    policy = lotor.LinearEpsilonGreedy(
        draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])), ridge=draw(st.sampled_from([1.0, 1.7, 30.0]))
    )
    protocol = lotor.PPCB(
        policy,
        form=form,
        reciprocal=draw(st.sampled_from(["shares", "garbled"])) if form == "shared" else "shares",
        bits=draw(st.integers(16, 24)),
        owners=draw(st.integers(1, d)),
        delay=draw(st.integers(0, min(4, budget))),
        privacy_budget=draw(st.sampled_from([None, 40.0])) if policy.epsilon else None,
    )
    seed = draw(st.integers(0, 2**32))
    return protocol, some_arms(seed, rounds=budget, k=draw(st.integers(2, 7)), d=d), budget, seed


def uneven_arms(seed: int) -> lotor.ContextualArms:
    """Short contexts, negative features and rewards in a range of their own."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(12, 3))
    x *= 10.0 ** generator.uniform(-4, 0, size=(12, 1)) / np.sqrt(np.square(x).sum(axis=1)).max()
    rewards = generator.uniform(-3, 5, size=(12, 4))
    return lotor.ContextualArms(x, rewards, reward_range=(-3, 5))

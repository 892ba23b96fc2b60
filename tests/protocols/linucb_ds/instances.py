"""Linear bandits of every kind, for properties that hold in every form."""

from typing import Literal

import numpy as np
from hypothesis import strategies as st

import lotor
from lotor.core.fixed_point import Floats

Shape = Literal["random", "negative", "twins", "equal", "one of all"]


@st.composite
def vectors(draw: st.DrawFn) -> tuple[Floats, int]:
    """Arms of very different lengths, and arms that are equal or nearly so."""
    seed = draw(st.integers(0, 2**32))
    generator = np.random.default_rng(seed)
    k, d = draw(st.integers(2, 16)), draw(st.integers(1, 6))
    x = generator.normal(size=(k, d))
    shape: Shape = draw(st.sampled_from(["random", "negative", "twins", "equal", "one of all"]))
    if shape == "negative":
        x = -np.abs(x)
    elif shape == "twins":
        gap = 10.0 ** -draw(st.integers(6, 12))
        x[k // 2 :] = x[: k - k // 2] * (1 + gap * generator.normal(size=(k - k // 2, d)))
    elif shape == "equal":
        x[k // 2 :] = x[: k - k // 2]
    elif shape == "one of all":
        x[:] = x[0]
    lengths = 10.0 ** generator.uniform(-draw(st.integers(0, 12)), 0, size=(k, 1))
    x = x * lengths * 10.0 ** draw(st.integers(-9, 9))
    # No bound on arms is below 2^-64.
    return x * max(1.0, 2.0**-60 / float(np.sqrt(np.square(x).sum(axis=1)).max())), seed


@st.composite
def instances(draw: st.DrawFn) -> tuple[lotor.LinearArms, lotor.LinUCB, int, int]:
    x, seed = draw(vectors())
    generator = np.random.default_rng(seed + 1)
    budget = draw(st.integers(2, 12))
    bound = 10.0 ** draw(st.integers(-9, 9))
    theta = generator.normal(size=x.shape[1])
    theta *= bound * draw(st.sampled_from([0.0, 1e-6, 0.5, 1.0])) / np.sqrt(np.square(theta).sum())
    unit = bound * float(np.abs(x).max())
    noise = unit * generator.normal(size=budget) if draw(st.booleans()) else None
    first = draw(st.none() | st.integers(0, len(x) - 1))
    arms = lotor.LinearArms(x, theta, noise_sd=0.1 * unit, noise=noise, first=first)
    # gamma and R in the units of the arms and rewards, as a user would state them.
    gamma = float(np.square(x).sum(axis=1).max()) * 10.0 ** draw(st.integers(-2, 1))
    return arms, lotor.LinUCB(gamma=gamma, R=0.1 * unit, S=bound), budget, seed


def sampling(policy: lotor.LinUCB, scale: float) -> lotor.LinTS:
    """Thompson sampling with the units of another policy."""
    assert isinstance(policy.S, float)
    return lotor.LinTS(scale, policy.gamma, policy.delta, policy.R, policy.S)

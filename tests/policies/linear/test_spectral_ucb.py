from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, PolicyError
from lotor.environments import GraphArms
from lotor.policies.linear import SpectralUCB, effective_dimension


def some_graph(seed: int) -> GraphArms:
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 20))
    weights = generator.exponential(size=(k, k)) * (generator.random((k, k)) < 0.4)
    weights = np.triu(weights, 1)
    # A path through all nodes keeps it in one piece.
    weights[np.arange(k - 1), np.arange(1, k)] = 1.0
    return GraphArms(weights + weights.T, generator.normal(size=k))


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=30),
    st.integers(1, 10_000),
    st.floats(0.001, 10),
)
def test_the_effective_dimension_is_the_largest_that_fits(
    eigenvalues: list[float], budget: int, gamma: float
) -> None:
    penalties = sorted(value + gamma for value in eigenvalues)
    room = budget / log(1 + budget / gamma)
    fitting = [d for d in range(1, len(penalties) + 1) if (d - 1) * penalties[d - 1] <= room]
    assert effective_dimension(np.array(penalties), budget, gamma) == max(fitting)


@given(st.integers(0, 2**32))
def test_no_u_is_longer_than_an_arm(seed: int) -> None:
    generator = np.random.default_rng(seed)
    arms = some_graph(seed)
    model = SpectralUCB(gamma=0.01).start(arms.vectors, budget=30, eigenvalues=arms.eigenvalues)
    for t in range(1, 30):
        model.update(int(generator.integers(min(arms.k, 3))), 0.0)
        u, _ = model.coefficients(t)
        assert np.sqrt(np.square(u).sum(axis=1).max()) <= 1 + 1e-9


@given(st.floats(0.01, 10), st.floats(0.001, 0.5), st.floats(0, 2), st.integers(1, 100))
def test_the_width_is_that_of_section_6(gamma: float, delta: float, r: float, t: int) -> None:
    arms = some_graph(5)
    assert arms.eigenvalues is not None
    model = SpectralUCB(gamma, delta, r, "log t").start(
        arms.vectors, budget=100, eigenvalues=arms.eigenvalues
    )
    penalties = arms.eigenvalues + gamma
    d = effective_dimension(penalties, 100, gamma)
    omega = 2 * r * sqrt(d * log(1 + t / gamma) + 2 * log(1 / delta)) + log(t)
    norms = np.sqrt(np.square(arms.vectors) @ (1 / penalties))
    assert model.coefficients(t)[1] == pytest.approx(omega * norms, rel=1e-9, abs=1e-12)


def test_it_needs_a_graph() -> None:
    with pytest.raises(PolicyError, match="give it GraphArms"):
        SpectralUCB().start(np.eye(3), budget=5)
    with pytest.raises(PolicyError, match="give it GraphArms"):
        SpectralUCB().check_theta(np.ones(3))
    with pytest.raises(InputError, match="2 numbers where 3"):
        SpectralUCB().start(np.eye(3), budget=5, eigenvalues=np.ones(2))
    with pytest.raises(InputError, match="below 0"):
        SpectralUCB().start(np.eye(2), budget=5, eigenvalues=np.array([-0.1, 1.0]))


def test_c_bounds_the_change_along_the_edges() -> None:
    arms = GraphArms([[0, 4, 0], [4, 0, 1], [0, 1, 0]], values=[0.0, 1.0, 4.0])
    rough = sqrt(4 * 1**2 + 1 * 3**2)
    SpectralUCB(C=rough + 1e-6).check_theta(arms.theta, arms.eigenvalues)
    SpectralUCB(C="log t").check_theta(arms.theta, arms.eigenvalues)
    with pytest.raises(InputError, match="state a larger C"):
        SpectralUCB(C=rough - 1e-6).check_theta(arms.theta, arms.eigenvalues)
    with pytest.raises(InputError, match="theta_bound = 4"):
        SpectralUCB(C=9.0, theta_bound=4.0).check_theta(arms.theta, arms.eigenvalues)


@pytest.mark.parametrize(
    "parameters", [{"gamma": 0.0}, {"delta": 0.0}, {"R": -1.0}, {"C": 0.0}, {"theta_bound": 0.0}]
)
def test_unusable_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(parameters))):
        SpectralUCB(**parameters)

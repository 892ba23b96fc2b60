from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.policies.linear import LinUCB


@given(
    st.floats(0.01, 10), st.floats(0.001, 0.5), st.floats(0, 2), st.floats(0.1, 5),
    st.floats(0.1, 3), st.integers(1, 1000), st.integers(1, 6),
)  # fmt: skip
def test_the_width_is_that_of_figure_2(
    gamma: float, delta: float, r: float, s: float, length: float, t: int, d: int
) -> None:
    vectors = np.vstack([np.eye(d) * length, np.zeros(d)])
    _, c = LinUCB(gamma, delta, r, s).start(vectors, budget=10).coefficients(t)
    omega = r * sqrt(d * log((1 + t * length**2 / gamma) / delta)) + sqrt(gamma) * s
    # A is gamma I before the first pull, so that the arm's norm is length / sqrt(gamma).
    assert c[0] == pytest.approx(omega * length / sqrt(gamma), rel=1e-9)


def test_l_is_the_longest_arm_unless_it_is_stated() -> None:
    arms = np.array([[3.0, 4.0], [1.0, 0.0]])
    assert _widths(LinUCB(), arms) == _widths(LinUCB(L=5.0), arms)
    assert _widths(LinUCB(L=6.0), arms) > _widths(LinUCB(), arms)
    with pytest.raises(InputError, match=r"longer than L = 4\.9: give L at least 5"):
        LinUCB(L=4.9).start(arms, budget=5)


def _widths(policy: LinUCB, arms: Floats) -> list[float]:
    widths: list[float] = policy.start(arms, budget=5).coefficients(3)[1].tolist()
    return widths


def test_log_t_is_the_papers_choice_and_states_no_bound() -> None:
    policy = LinUCB(gamma=0.01, delta=0.001, R=0.01, S="log t")
    assert policy.bound == 64.0
    policy.check_theta(np.array([63.0]))
    with pytest.raises(InputError, match="theta_bound = 64"):
        policy.check_theta(np.array([65.0]))
    assert LinUCB(S="log t", theta_bound=2.0).bound == 2.0


def test_theta_must_keep_s() -> None:
    LinUCB(S=2.0).check_theta(np.array([1.2, 1.6]))
    with pytest.raises(InputError, match="S = 2"):
        LinUCB(S=2.0, theta_bound=8.0).check_theta(np.array([1.3, 1.6]))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"gamma": 0.0}, "gamma is 0.0: give a finite number above 0"),
        ({"gamma": float("nan")}, "gamma"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.5}, "give a probability"),
        ({"R": -1.0}, "R is -1.0: give a finite number from 0 up"),
        ({"S": 0.0}, "S is 0.0"),
        ({"S": float("inf")}, "S is inf"),
        ({"S": "log n"}, "give a number or 'log t'"),
        ({"L": -1.0}, "L is -1.0"),
        ({"theta_bound": 0}, "theta_bound"),
        ({"gamma": "much"}, "gamma is 'much': give a number"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LinUCB(**parameters)


@pytest.mark.parametrize(
    "vectors", [[[1.0, 2.0]], [[], []], [[1.0], [np.nan]]], ids=["one arm", "d = 0", "nan"]
)
def test_unusable_arms_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(InputError):
        LinUCB().start(np.array(vectors), budget=5)

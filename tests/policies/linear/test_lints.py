from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.crypto.prf import KEY_BYTES
from lotor.policies.linear import LinTS
from lotor.policies.linear.lints import solve_factor
from lotor.protocols.linear_draws import PURPOSES, SAMPLE, LinearDraws
from lotor.protocols.protocol import SecureProtocol

KEYS = {purpose: bytes(KEY_BYTES) for purpose in PURPOSES}


def a_matrix(seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    d = int(generator.integers(1, 8))
    rows: Floats = generator.normal(size=(d + 2, d))
    matrix: Floats = rows.T @ rows + 0.1 * np.eye(d)
    return matrix


@given(st.integers(0, 2**32))
def test_the_factor_of_a_sample_has_the_inverse_as_its_covariance(seed: int) -> None:
    """Of w = L^-T z the covariance is L^-T L^-1, for standard normal z: exactly, by columns."""
    matrix = a_matrix(seed)
    columns = np.array([solve_factor(matrix, unit) for unit in np.eye(len(matrix))]).T
    assert columns @ columns.T == pytest.approx(np.linalg.inv(matrix), rel=1e-8, abs=1e-8)


def test_a_matrix_that_rounding_has_spoilt_is_refused() -> None:
    with pytest.raises(PolicyError, match="give a larger gamma"):
        solve_factor(np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones(2))


@given(
    st.integers(0, 2**32), st.floats(0.01, 3), st.floats(0.001, 0.5), st.floats(0.01, 2),
    st.integers(1, 500),
)  # fmt: skip
def test_a_score_is_that_of_the_sampled_theta(
    seed: int, scale: float, delta: float, r: float, t: int
) -> None:
    """<x, A^-1 b + v w>: as the paper says, computed with numpy's own inverse and factor."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(generator.integers(2, 9), generator.integers(1, 6)))
    k, d = vectors.shape
    theta = generator.normal(size=(d,))
    draws = generator.normal(size=(d,))
    model = LinTS(scale, 0.5, delta, r).start(vectors, budget=t)
    a, b = 0.5 * np.eye(d), np.zeros(d)
    for arm in generator.integers(k, size=6).tolist():
        noise = generator.normal()
        model.update(arm, noise)
        a += np.outer(vectors[arm], vectors[arm])
        b += (vectors[arm] @ theta + noise) * vectors[arm]
    asked = []

    def normals(at: int, count: int) -> Floats:
        asked.append((at, count))
        return draws

    u, c = model.coefficients(t, normals)
    v = scale * r * sqrt(9 * d * log((t + 1) / delta))
    sampled = np.linalg.solve(a, b) + v * np.linalg.solve(np.linalg.cholesky(a).T, draws)
    assert u @ theta + c == pytest.approx(vectors @ sampled, rel=1e-6, abs=1e-6)
    assert asked == [(t + 1, d)]


def test_without_the_draws_a_score_is_its_mean() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 2.0]])
    model = LinTS().start(vectors, budget=5)
    model.update(0, 0.5)
    assert model.coefficients(1)[1].tolist() == [0.25, 0.0]


def test_draws_are_normal_and_belong_to_their_round() -> None:
    draws = LinearDraws(KEYS, 3, noise_sd=0.1)
    many = np.array([draws.normals(t, 5) for t in range(1, 2001)])
    assert many.tolist()[6] == draws.normals(7, 5).tolist()
    assert len(np.unique(many)) == many.size
    assert np.abs(np.cov(many.T) - np.eye(5)).max() < 0.1
    assert abs(float(many.mean())) < 0.02
    other = LinearDraws({**KEYS, SAMPLE: b"\1" * KEY_BYTES}, 3, noise_sd=0.1)
    assert other.noise(7) == draws.noise(7)
    assert other.normals(7, 5).tolist() != draws.normals(7, 5).tolist()


def test_it_learns_which_arm_is_best() -> None:
    arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7], [0.8, -0.6]], theta=[0.3, 0.8])
    for seed in range(5):
        run = lotor.run(LinTS(scale=0.3), arms, budget=400, seed=seed)
        assert run.arms is not None
        assert run.arms[200:].count(1) > 120
        assert run.regret()[-1] < 0.2 * 400 * 0.5


def test_no_scale_is_greedy_and_more_scale_explores_more() -> None:
    arms = lotor.LinearArms(np.eye(4), theta=[0.1, 0.2, 0.3, 0.4], noise_sd=0, first=0)
    greedy, some, much = (
        lotor.run(LinTS(scale), arms, budget=300, seed=1).pulls for scale in (0.0, 0.3, 3.0)
    )
    assert greedy == {0: 300, 1: 0, 2: 0, 3: 0}
    assert min(some.values()) < min(much.values())
    assert some[3] > much[3] > 0


def test_bounds_are_kept_and_widened() -> None:
    LinTS(S=2.0).check_theta(np.array([1.2, 1.6]))
    with pytest.raises(InputError, match="S = 2"):
        LinTS(S=2.0).check_theta(np.array([1.3, 1.6]))
    assert LinTS().widened(np.array([3.0])) == LinTS(S=4.0)
    assert LinTS().widened(np.array([3.0]), keep=["S"]) == LinTS()
    assert LinTS(S=3.0).bound == 3.0


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"scale": -1.0}, "scale is -1.0: give a finite number from 0 up"),
        ({"gamma": 0.0}, "gamma is 0.0: give a finite number above 0"),
        ({"delta": 0.0}, "give a probability"),
        ({"R": float("nan")}, "R is nan"),
        ({"S": float("inf")}, "S is inf"),
        ({"S": "log t"}, "S is 'log t': give a number"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LinTS(**parameters)


@pytest.mark.parametrize("kind", [lotor.Samba, lotor.SpectralUCBDS, lotor.PPCB, lotor.Helba])
def test_the_other_protocols_refuse_it(kind: type[SecureProtocol]) -> None:
    reason = kind.why_not(LinTS())
    assert reason is not None
    assert "not LinTS" in str(reason)

import os
import subprocess
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, JournalError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.policies.linear import LinearModel, LinearPolicy, LinUCB, ModelSnapshot, SpectralUCB
from lotor.policies.linear.base import inverse
from lotor.policies.linear.bounds import bound_at, check_norm

seeds = st.integers(0, 2**32)


def some_arms(seed: int) -> tuple[np.random.Generator, Floats]:
    generator = np.random.default_rng(seed)
    k, d = generator.integers(2, 12), generator.integers(1, 7)
    return generator, generator.normal(size=(k, d))


def some_model(seed: int) -> tuple[np.random.Generator, Floats, LinearPolicy, LinearModel]:
    """LinUCB and SpectralUCB in turn, the latter on any eigenvalues."""
    generator, vectors = some_arms(seed)
    policy = LinUCB(gamma=0.3) if seed % 2 else SpectralUCB(gamma=0.3)
    eigenvalues = generator.exponential(size=(vectors.shape[1],))
    return generator, vectors, policy, policy.start(vectors, budget=50, eigenvalues=eigenvalues)


@given(seeds)
def test_scores_are_linear_in_theta(seed: int) -> None:
    """<u, theta> + c is what the estimate A^-1 b and its width say."""
    generator, vectors, _, model = some_model(seed)
    k, d = vectors.shape
    theta = generator.normal(size=d)
    _, first = model.coefficients(1)
    a = np.frombuffer(model.snapshot().a).reshape(d, d).copy()
    widths = np.sqrt(np.einsum("ij,jk,ik->i", vectors, np.linalg.inv(a), vectors))
    omega = first[widths.argmax()] / widths.max()
    b = np.zeros(d)
    for arm in generator.integers(k, size=8):
        noise = generator.normal()
        model.update(int(arm), noise)
        a += np.outer(vectors[arm], vectors[arm])
        b += (vectors[arm] @ theta + noise) * vectors[arm]
    u, c = model.coefficients(1)
    inverse = np.linalg.inv(a)
    expected = vectors @ inverse @ b
    expected += omega * np.sqrt(np.einsum("ij,jk,ik->i", vectors, inverse, vectors))
    assert u @ theta + c == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(seeds, st.integers(0, 12))
def test_a_restored_model_goes_on_exactly(seed: int, cut: int) -> None:
    generator, vectors, policy, _ = some_model(seed)
    eigenvalues = generator.exponential(size=(vectors.shape[1],))
    model = policy.start(vectors, budget=50, eigenvalues=eigenvalues)
    arms = generator.integers(len(vectors), size=12).tolist()
    pulls = list(zip(arms, generator.normal(size=12).tolist(), strict=True))
    for arm, noise in pulls[:cut]:
        model.update(arm, noise)
    stored = msgspec.msgpack.encode(model.snapshot())
    again = policy.start(vectors, budget=50, eigenvalues=eigenvalues)
    again.restore(msgspec.msgpack.decode(stored, type=ModelSnapshot))
    for t, (arm, noise) in enumerate(pulls[cut:], start=cut + 1):
        for one in (model, again):
            one.update(arm, noise)
        for mine, others in zip(model.coefficients(t), again.coefficients(t), strict=True):
            assert mine.tobytes() == others.tobytes()
    assert again.snapshot() == model.snapshot()


def test_a_snapshot_of_another_model_is_refused() -> None:
    model = LinUCB().start(np.eye(3), budget=5)
    with pytest.raises(JournalError, match="3 dimensions"):
        model.restore(LinUCB().start(np.eye(2), budget=5).snapshot())


def test_reprs_hold_no_values() -> None:
    model = LinUCB().start(np.eye(2), budget=5)
    model.update(0, 0.625)
    assert repr(model) == "<LinearModel of 2 arms in 2 dimensions>"
    assert repr(model.snapshot()) == "<ModelSnapshot of 2 dimensions>"


def test_a_matrix_that_cannot_be_inverted_is_refused() -> None:
    model = LinUCB(gamma=1e-300).start(np.array([[1.0, 1.0], [2.0, 2.0]]), budget=5)
    model.update(0, 0.0)
    with pytest.raises(PolicyError, match="larger gamma"):
        model.coefficients(1)


@given(seeds, st.floats(1e-6, 10))
def test_the_inverse_is_that_of_lapack(seed: int, gamma: float) -> None:
    _, vectors = some_arms(seed)
    a = gamma * np.eye(vectors.shape[1]) + vectors.T @ vectors
    expected = np.linalg.inv(a)
    assert inverse(a) == pytest.approx(expected, abs=1e-8 * float(np.abs(expected).max()))


THREADS = """
import hashlib
import numpy as np
from lotor.policies.linear import LinUCB

generator = np.random.default_rng(1)
model = LinUCB(gamma=0.01).start(generator.normal(size=(150, 120)), budget=10)
for arm in range(5):
    model.update(arm, 0.25)
u, c = model.coefficients(5)
print(hashlib.sha256(u.tobytes() + c.tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_no_bit() -> None:
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    digests = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", THREADS],
            env=os.environ | dict.fromkeys(names, threads),
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "4")
    }
    assert len(digests) == 1


def test_a_zero_arm_scores_zero() -> None:
    model = LinUCB().start(np.array([[0.0, 0.0], [1.0, 0.0]]), budget=5)
    u, c = model.coefficients(1)
    assert u[0].tolist() == [0.0, 0.0]
    assert c[0] == 0.0


def test_the_norm_check_leaves_room_for_rounding_only() -> None:
    unit = np.full(7, 7**-0.5)
    check_norm(unit * (1 + 1e-15), 1.0, "S")
    with pytest.raises(InputError, match="longer than S = 1: state a larger S"):
        check_norm(unit * (1 + 1e-8), 1.0, "S")
    with pytest.raises(InputError):
        check_norm(np.array([1e308, 1e308]), 1.0, "S")
    with pytest.raises(InputError):
        check_norm(np.array([np.nan]), 1.0, "S")


def test_log_t_grows_from_nothing() -> None:
    assert bound_at("log t", 1) == 0.0
    assert bound_at("log t", 20) == pytest.approx(2.9957, abs=1e-4)
    assert bound_at(2.5, 20) == 2.5

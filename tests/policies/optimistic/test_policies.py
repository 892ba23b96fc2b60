"""Widths, indices and schedules against their formulas."""

from collections.abc import Callable
from math import inf, log, nan, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.policies.optimistic import (
    OFUL,
    RSOFUL,
    RSOFULTR,
    Batch,
    BatchedOFUL,
    OptimisticPolicy,
)

PAPER = BatchedOFUL(index="sqrt", width="union", C=1.0, eta=0.1)
rounds = st.integers(1, 10**6)
dimensions = st.integers(1, 30)
lengths = st.floats(0.01, 100)


def a_batch(start: int, d: int, log_growth: float = 0.0, trace: float = 0.0) -> Batch:
    return Batch(start, np.eye(d), np.zeros(d), log_growth, trace)


def never() -> float:
    raise AssertionError("nobody needs the determinant here")


def starts(policy: BatchedOFUL, budget: int) -> list[int]:
    """With which rounds batches start if the contexts have nothing to say."""
    found = [1]
    for t in range(2, budget + 1):
        if policy.ends(t, a_batch(found[-1], 2), never):
            found.append(t)
    return found


@given(rounds, st.integers(0, 10**6), dimensions, lengths, lengths)
def test_the_width_of_algorithm_4(
    start: int, later: int, d: int, length: float, ridge: float
) -> None:
    policy = OFUL(L=length, ridge=ridge, S=0.8, delta=0.1, sigma=0.3, width="union")
    t = start + later
    inside = log(1 + length**2 * start / ridge) + log(pi**2 * t**2 / 0.6)
    expected = 0.3 * sqrt(d * inside) + start**-0.5 + 0.8 * sqrt(ridge)
    assert policy.beta(t, a_batch(start, d)) == pytest.approx(expected)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 60))
def test_the_public_width_is_at_least_that_of_the_determinant(seed: int, d: int, n: int) -> None:
    """Lemma 10 of Abbasi-Yadkori et al. (2011)."""
    generator = np.random.default_rng(seed)
    model, public = OFUL().start(d), OFUL(width="public")
    for _ in range(n):
        x = generator.normal(size=d)
        model.update(x * (5.5 * generator.uniform() / sqrt(x @ x)), 0.0)
    narrow, wide = OFUL().beta(n + 1, model.batch), public.beta(n + 1, model.batch)
    assert narrow <= wide * (1 + 1e-12)
    assert wide <= OFUL(width="union").beta(n + 1, model.batch)


@given(st.floats(0, 1e4), rounds, dimensions, st.sampled_from(["log", "flat"]), lengths)
def test_the_quadratic_index_is_an_upper_bound_that_touches(
    z: float, t: int, d: int, touch: str, length: float
) -> None:
    policy = BatchedOFUL(touch=touch, L=length)  # type: ignore[arg-type]
    u = policy.touches(t, d)
    bonus = policy.bonus(np.array([z, u**2]), t, a_batch(t, d))
    assert bonus[0] >= sqrt(z) * (1 - 1e-12)
    assert bonus[1] == pytest.approx(u)
    # What it adds to the root is the square of how far that is from u.
    assert bonus[0] - sqrt(z) == pytest.approx((sqrt(z) - u) ** 2 / (2 * u), rel=1e-6, abs=1e-9)


@given(rounds, dimensions)
def test_where_it_touches_is_public_and_falls(t: int, d: int) -> None:
    for policy in (BatchedOFUL(), BatchedOFUL(touch="flat")):
        assert policy.touches(t + 1, d) < policy.touches(t, d)
    assert BatchedOFUL(touch="flat").touches(t, d) == pytest.approx(sqrt(d / t))
    logarithm = log(1 + t * 5.5**2 / d)
    assert BatchedOFUL().touches(t, d) == pytest.approx(sqrt(d * logarithm / t))


@given(st.floats(0, 30), rounds, st.integers(0, 100))
def test_the_index_of_algorithm_4(z: float, start: int, later: int) -> None:
    t = start + later
    eps = 5.5 / (start**1.5 * sqrt(1 + 5.5**2 * start))
    bonus = PAPER.bonus(np.array([z]), t, a_batch(start, 2))
    assert bonus[0] == pytest.approx(sqrt(z + eps) + 1 / t)


def test_lengths_of_batches() -> None:
    """(1 + eta) t_j exactly: 11 is not below 1.1·10."""
    expected = [*range(1, 12), 13, 15, 17, 19, 21, 24, 27, 30, 33, 37, 41, 46, 51, 57, 63, 70, 77]
    assert starts(PAPER, 130) == [*expected, 85, 94, 104, 115, 127]
    assert starts(BatchedOFUL(), 20) == list(range(1, 21))
    assert starts(BatchedOFUL(eta=1), 64) == [1, 2, 4, 8, 16, 32, 64]


@given(st.integers(1, 10**9), st.integers(1, 50), st.floats(0, 10))
def test_a_batch_is_over_once_it_is_long_enough(start: int, percent: int, eta: float) -> None:
    policy = BatchedOFUL(eta=percent / 100)
    due = start + -(-start * percent // 100)
    assert policy.due(due, start)
    assert not policy.due(due - 1, start)
    assert BatchedOFUL(eta=eta).due(start + 11 * start, start)


@pytest.mark.parametrize(("trace", "over"), [(0.0, False), (0.99, False), (1.0, True)])
def test_the_trace_rule(trace: float, over: bool) -> None:
    batch = a_batch(100, 2, trace=trace)
    assert RSOFULTR().ends(101, batch, never) is over
    assert PAPER.ends(101, batch, never) is over
    assert not BatchedOFUL(eta=0.1).ends(101, batch, never)


@pytest.mark.parametrize(("factor", "over"), [(1.0, False), (2.9, False), (3.1, True)])
def test_the_determinant_rule(factor: float, over: bool) -> None:
    batch = a_batch(100, 2, log_growth=5.0)
    grown: Callable[[], float] = lambda: 5.0 + log(factor)  # noqa: E731
    assert RSOFUL(C=2).ends(101, batch, grown) is over


@pytest.mark.parametrize("kind", [OFUL, RSOFUL, RSOFULTR, BatchedOFUL])
@pytest.mark.parametrize("name", ["ridge", "S", "L", "delta"])
@pytest.mark.parametrize("value", [0, -1.0, nan, inf, "much", True])
def test_bounds_are_positive(kind: type[OptimisticPolicy], name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} is"):
        kind(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: OFUL(sigma=-0.1), "sigma is -0.1: give a finite number from 0 up"),
        (lambda: OFUL(width="narrow"), "width is 'narrow': choose one of determinant, public"),  # type: ignore[arg-type]
        (lambda: BatchedOFUL(width="determinant"), "choose one of public, union"),  # type: ignore[arg-type]
        (lambda: BatchedOFUL(index="root"), "choose one of optimistic-quadratic, sqrt"),  # type: ignore[arg-type]
        (lambda: BatchedOFUL(touch="late"), "touch is 'late'"),  # type: ignore[arg-type]
        (lambda: BatchedOFUL(eta=-0.1), "eta is -0.1"),
        (lambda: BatchedOFUL(C=0), "C is 0"),
        (lambda: RSOFUL(C=nan), "C is nan"),
        (lambda: RSOFULTR(C=-1), "C is -1"),
    ],
)
def test_parameters_that_mean_nothing(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()


def test_contexts_and_theta_keep_their_bounds() -> None:
    policy = OFUL(L=5.0, S=1.0)
    policy.check_contexts(np.array([[[3.0, 4.0], [0.0, -5.0]], [[0.0, 0.0], [1.0, 1.0]]]))
    policy.check_theta(np.array([0.6, 0.8]))
    for bad in ([[3.0, 4.1]], [[nan, 0.0]], [[inf, 0.0]], [[1e200, 0.0]]):
        with pytest.raises(InputError, match="longer than L = 5"):
            policy.check_contexts(np.array(bad))
    with pytest.raises(InputError, match="longer than S = 1"):
        policy.check_theta(np.array([0.7, 0.8]))

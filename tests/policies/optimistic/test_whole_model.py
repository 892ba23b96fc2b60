"""Whole numbers against fractions, against floats, and within the bounds that were proved."""

from fractions import Fraction
from math import isqrt, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.policies.optimistic import BatchedOFUL, Grid, IndexWindows, WholeIndex, WholeModel
from lotor.policies.optimistic.grid import rounded
from lotor.policies.optimistic.whole_model import dot, times
from lotor.protocols.plain import Plain

seeds = st.integers(0, 2**32)
QUADRATIC = BatchedOFUL()
ROOT = BatchedOFUL(index="sqrt", width="union", eta=0.1)
POLICIES = [
    QUADRATIC,
    ROOT,
    BatchedOFUL(ridge=0.01, touch="flat", eta=0.5, L=1.0),
    BatchedOFUL(index="sqrt", ridge=0.3, L=2.0),
    BatchedOFUL(index="sqrt", ridge=50.0, L=1.0, width="union"),
]
SCALE = RewardScale(-6.0, 6.0)


def inverted(v: list[list[Fraction]]) -> tuple[list[list[Fraction]], Fraction]:
    """Inverse and determinant by Gauss and Jordan."""
    d, det = len(v), Fraction(1)
    rows = [[*row, *(Fraction(i == j) for j in range(d))] for i, row in enumerate(v)]
    for i in range(d):
        pivot = next(j for j in range(i, d) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        det *= rows[i][i] * (1 if pivot == i else -1)
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(d):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[d:] for row in rows], det


def on_grid(x: Floats) -> Floats:
    """The contexts that are computed with, as floats."""
    return np.array(Grid().contexts(x)) / 2.0**10


def contexts(seed: int, shape: tuple[int, ...], longest: float) -> Floats:
    x = np.random.default_rng(seed).uniform(-1, 1, size=shape)
    table: Floats = x * longest / np.sqrt(shape[-1])
    return table


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 4), st.sampled_from(POLICIES))
def test_scores_are_the_formula_in_fractions(seed: int, d: int, policy: BatchedOFUL) -> None:
    grid, rounds = Grid(6, 5), 9
    model, index = WholeModel(policy, grid, d), WholeIndex(policy, grid, d)
    table = contexts(seed, (rounds, 3, d), policy.L)
    v = [[Fraction(index.ridge * (i == j)) for j in range(d)] for i in range(d)]
    g, start = [0] * d, 1
    estimate = inverted(v), [0] * d
    for t in range(1, rounds + 1):
        (inverse, det), of_batch = estimate
        scores = []
        for x in grid.contexts(table[t - 1]):
            a = det * dot(x, times(inverse, of_batch))  # type: ignore[arg-type]
            z = det * dot(x, times(inverse, x))  # type: ignore[arg-type]
            if policy.index == "sqrt":
                b, e = index.squares(t, start)
                under = int(b * det * z + e * det**2)
                scores.append((int(a) >> index.drop) + isqrt(under >> 2 * index.drop))
            else:
                scores.append(int(a + index.factor(t, start) * z))
        assert model.indices(table[t - 1]) == scores
        x, reward = table[t - 1, seed % 3], (seed * t) % 13 - 6.0
        model.update(x, reward)
        (row,) = grid.contexts(x[None])
        v = [[v[i][j] + row[i] * row[j] for j in range(d)] for i in range(d)]
        g = [entry + grid.reward(reward) * number for entry, number in zip(g, row, strict=True)]
        if policy.due(t + 1, start):
            start, estimate = t + 1, (inverted(v), list(g))


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 5), st.sampled_from(POLICIES))
def test_a_lead_above_the_resolution_decides_as_floats_do(
    seed: int, d: int, policy: BatchedOFUL
) -> None:
    grid = Grid()
    whole, index = WholeModel(policy, grid, d), WholeIndex(policy, grid, d)
    # Floats whose ridge, contexts and rewards are the grid's.
    near = BatchedOFUL(
        index=policy.index,
        width=policy.width,
        touch=policy.touch,
        eta=policy.eta,
        ridge=index.ridge / 4**grid.context_bits,
        L=policy.L,
    )
    floats = near.start(d)
    for t, x in enumerate(contexts(seed, (25, 3, d), policy.L), start=1):
        scores, indices = np.array(whole.indices(x)), floats.indices(on_grid(x))
        second, first = np.sort(indices)[-2:]
        if first - second > index.resolution(t, floats.batch.start) + 1e-6:
            assert scores.argmax() == indices.argmax()
        arm, reward = int(indices.argmax()), float(np.sin(seed + t))
        whole.update(x[arm], reward)
        floats.update(on_grid(x[arm][None])[0], grid.reward(reward) / 2**grid.reward_bits)


def extreme(seed: int, d: int, policy: BatchedOFUL, kind: str) -> Floats:
    """25 rounds of contexts as long as allowed: one direction, axes, or any."""
    generator = np.random.default_rng(seed)
    table: Floats
    if kind == "one":
        table = np.repeat(generator.normal(size=(1, 2, d)), 25, axis=0)
    elif kind == "axes":
        table = np.repeat(np.eye(d)[np.arange(25) % d][:, None], 2, axis=1)
        table[:, 1] *= -1
    else:
        table = generator.normal(size=(25, 2, d))
    table *= policy.L * (1 + 1e-9) / np.linalg.norm(table, axis=-1, keepdims=True)
    return table


def reached(seed: int, d: int, policy: BatchedOFUL, kind: str) -> tuple[IndexWindows, int, int]:
    """The largest numbers of a run with extreme contexts and rewards, and their windows."""
    index = WholeIndex(policy, Grid(), d)
    windows, model = IndexWindows(index, SCALE, 25), WholeModel(policy, Grid(), d)
    signs = np.random.default_rng(seed)
    most = most_squared = 0
    for t, x in enumerate(extreme(seed, d, policy, kind), start=1):
        for row in Grid().contexts(x):
            a, z = dot(row, model._weights), dot(row, times(model._inverse, row))
            det = model._scale
            score = a if index.rooted else a + index.factor(t, model._start) * z
            assert -windows.linear <= a <= windows.linear
            assert 0 <= score + windows.offset < windows.score_values
            most = max(most, score + windows.offset)
            if index.rooted:
                b, e = index.squares(t, model._start)
                under = b * det * z + e * det**2
                assert 0 <= under < windows.squared_values
                most_squared = max(most_squared, under)
        arm = t % 2
        up = kind != "any" or signs.integers(2)
        model.update(x[arm], SCALE.high if (arm == 0) == up else SCALE.low)
    return windows, most, most_squared


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.integers(1, 4),
    st.sampled_from(POLICIES),
    st.sampled_from(["one", "axes", "any"]),
)
def test_no_run_leaves_its_windows(seed: int, d: int, policy: BatchedOFUL, kind: str) -> None:
    reached(seed, d, policy, kind)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("policy", [QUADRATIC, ROOT])
def test_windows_are_at_most_a_few_bits_too_wide(d: int, policy: BatchedOFUL) -> None:
    windows, most, squared = reached(1, d, policy, "axes")
    assert windows.score_values.bit_length() - most.bit_length() <= 3
    if policy.index == "sqrt":
        assert windows.squared_values.bit_length() - squared.bit_length() <= 4


@given(st.floats(-1e6, 1e6), st.integers(1, 24))
def test_rounding_is_to_the_nearest(value: float, bits: int) -> None:
    scaled = Fraction(value) * 2**bits
    assert abs(Grid(reward_bits=bits).reward(value) - scaled) <= Fraction(1, 2)


def test_rounding_is_exact_where_floats_are_not() -> None:
    assert rounded(nextafter(0.5, 0)) == 0
    assert rounded(2.0**53 - 1) == 2**53 - 1
    assert [rounded(half) for half in (-1.5, -0.5, 0.5, 1.5)] == [-1, 0, 1, 2]


@pytest.mark.parametrize("bits", [0, 25, 1.5, True, "8"])
def test_a_grid_refuses_what_is_no_number_of_bits(bits: int) -> None:
    with pytest.raises(InputError, match="context_bits is"):
        Grid(context_bits=bits)
    with pytest.raises(InputError, match="reward_bits is"):
        Grid(reward_bits=bits)


def test_condition_8_is_refused_with_what_to_use_instead() -> None:
    with pytest.raises(InputError, match=r"tell the server a bit .*eta=0 renews it in each"):
        WholeModel(BatchedOFUL(index="sqrt", C=1.0), Grid(), 2)


def test_no_dimensions_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to learn"):
        WholeModel(QUADRATIC, Grid(), 0)


@pytest.mark.parametrize(("policy", "most"), [(QUADRATIC, 0), (ROOT, 1)])
def test_the_grid_decides_25_toy_problems_as_floats_do(policy: BatchedOFUL, most: int) -> None:
    assert unlike(policy, range(25)) <= most


def unlike(policy: BatchedOFUL, chosen: range) -> int:
    """In how many runs some decision differs."""
    count = 0
    for seed in chosen:
        toy = lotor.LinearContexts.toy(rounds=130, seed=seed)
        floats = lotor.run(policy, toy, budget=130, seed=seed)
        grid = lotor.run(Plain(policy, {"grid": Grid()}), toy, budget=130, seed=seed)
        count += floats.arms != grid.arms
    return count


def test_plain_records_its_grid() -> None:
    toy = lotor.LinearContexts.toy(rounds=3)
    result = lotor.run(Plain(QUADRATIC, {"grid": Grid(9, 7)}), toy, budget=3, seed=1)
    assert (result.options["context_bits"], result.options["reward_bits"]) == (9, 7)
    assert "context_bits" not in lotor.run(Plain(QUADRATIC), toy, budget=3, seed=1).options


def test_a_policy_without_a_grid_is_refused_one() -> None:
    toy = lotor.LinearContexts.toy(rounds=3)
    with pytest.raises(InputError, match="does not compute on a grid"):
        lotor.run(Plain(lotor.OFUL(), {"grid": Grid()}), toy, budget=3, seed=1)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_equal_arms_are_decided_by_the_draws_of_floats(seed: int) -> None:
    same = np.repeat(contexts(seed, (12, 1, 2), 5.5), 4, axis=1)
    arms = lotor.LinearContexts(same, [0.1, 0.1])
    floats = lotor.run(QUADRATIC, arms, budget=12, seed=seed)
    grid = lotor.run(Plain(QUADRATIC, {"grid": Grid()}), arms, budget=12, seed=seed)
    assert floats.arms == grid.arms

"""A one at the largest, by all pairs and by tournament."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from crypto.sharing.table import Pair, run, seeds, shared, signed, traced, uniform
from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    Shared,
    SharedBits,
    Words,
    argmax,
    tournament,
)
from lotor.crypto.sharing.argmax import TOURNAMENT, pairs
from lotor.crypto.sharing.comparison import MANY

LARGEST = 2**61


def different(k: int, seed: int) -> Words:
    """Both ends of the range, neighbours, and numbers of all lengths."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 61, 4 * k)
    some = rng.integers(-LARGEST, LARGEST, 4 * k, np.int64) >> lengths
    ends = np.array([LARGEST, LARGEST - 1, -LARGEST, 1 - LARGEST, 0, 1, -1])
    distinct = rng.permutation(np.unique(np.concatenate([some, rng.permutation(ends)[:3]])))
    assert len(distinct) >= k
    return distinct[:k].view(np.uint64)


def one_hot(x: Words) -> Bits:
    numbers = x.view(np.int64)
    largest: Bits = (numbers == numbers.max(axis=-1, keepdims=True)).astype(np.uint8)
    return largest


def of_groups(x: Pair, groups: int) -> Bits:
    def circuit(engine: Engine, x: Shared) -> Circuit[SharedBits]:
        return (yield from tournament(engine, x, groups))

    found: Bits = run(circuit, x).value
    return found


@settings(max_examples=40)
@given(st.integers(1, 40), seeds)
def test_all_pairs(k: int, seed: int) -> None:
    x = different(k, seed)
    np.testing.assert_array_equal(run(argmax, shared(x, seed)).value, one_hot(x))


def first_of_largest(x: Words) -> Bits:
    found = np.zeros(len(x), np.uint8)
    found[x.view(np.int64).argmax()] = 1
    return found


EDGES = np.array([-(2**62), 1 - 2**62, -1, 0, 1, 2**62 - 2, 2**62 - 1])


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 7), seeds)
def test_the_first_of_equals_wins_up_to_both_ends(k: int, kinds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.choice(rng.choice(EDGES, kinds), k).view(np.uint64)
    np.testing.assert_array_equal(run(argmax, shared(x, seed)).value, first_of_largest(x))


@pytest.mark.parametrize("k", [160, 187, 1000])
@pytest.mark.parametrize("kinds", [1, 2, 4])
def test_the_first_of_equals_wins_in_a_tournament(k: int, kinds: int) -> None:
    """Also if all are as low as what fills the last group; of 1,000 it fills two groups more."""
    for edges in (EDGES[:kinds], EDGES[-kinds:]):
        x = np.random.default_rng(k).choice(edges, k).view(np.uint64)
        np.testing.assert_array_equal(run(argmax, shared(x, k)).value, first_of_largest(x))


def test_all_pairs_of_any_number() -> None:
    for k in range(1, 41):
        x = different(k, k)
        done = run(argmax, shared(x))
        np.testing.assert_array_equal(done.value, one_hot(x))
        few = k * (k - 1) // 2 < MANY
        assert done.recipe.rounds == (0 if k == 1 else 4 if few else 7)


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 12), seeds)
def test_row_by_row(rows: int, k: int, seed: int) -> None:
    x = np.stack([different(k, seed + row) for row in range(rows)])
    np.testing.assert_array_equal(run(argmax, shared(x)).value, one_hot(x))


@pytest.mark.parametrize("k", range(1, 13))
def test_tournament_for_any_number_of_groups(k: int) -> None:
    """Even, uneven, one, as many as numbers and more."""
    for groups in range(1, k + 3):
        x = different(k, 100 * k + groups)
        np.testing.assert_array_equal(of_groups(shared(x), groups), one_hot(x))


@settings(max_examples=40)
@given(st.integers(13, 60), st.integers(1, 60), seeds)
def test_tournament_is_as_all_pairs(k: int, groups: int, seed: int) -> None:
    x = shared(different(k, seed))
    np.testing.assert_array_equal(of_groups(x, groups), run(argmax, x).value)


def test_tournament_where_all_are_lowest() -> None:
    """What fills up the groups is below them all."""
    for k, groups in product((1, 2, 7), range(1, 9)):
        x = np.arange(k, dtype=np.uint64) + signed([-LARGEST])
        assert of_groups(shared(x), groups).tolist() == [0] * (k - 1) + [1]


@pytest.mark.parametrize("k", [TOURNAMENT - 1, TOURNAMENT, TOURNAMENT + 1])
def test_from_where_the_tournament_is_cheaper(k: int) -> None:
    x = different(k, k)
    done = run(argmax, shared(x))
    np.testing.assert_array_equal(done.value, one_hot(x))
    all_pairs = traced(argmax, shared(np.zeros((1, k), np.uint64)))
    assert (done.recipe.opened < all_pairs.opened / 2) == (k >= TOURNAMENT)


@pytest.mark.parametrize("k", range(2, 12))
def test_each_pair_once(k: int) -> None:
    among = pairs(k)
    assert len(among.i) == k * (k - 1) // 2
    for a in range(k):
        found = {(among.i[n], among.j[n]) for n in among.of[a]}
        assert found == {(min(a, b), max(a, b)) for b in range(k) if b != a}
        swapped = [bool(among.j[n] == a) for n in among.of[a]]
        assert [2**16 - 1 if each else 1 for each in swapped] == among.signs[a].tolist()
        assert among.swapped[a] == sum(swapped)


@pytest.mark.parametrize("tied", [[0, 1], [1, 3, 4], [0, 1, 2, 3, 4]])
def test_ties_are_decided_uniformly(tied: list[int]) -> None:
    """A secret permutation below the last bit decides. The bound is the 99.9999 % quantile."""
    trials, k, bits = 6000, 5, 3
    scores = np.full((trials, k), -3, np.int64).view(np.uint64)
    scores[:, tied] = 1000
    ranks = uniform(len(tied), trials, k).argsort(axis=-1).astype(np.uint64)
    (a, b), (c, d) = shared(scores, 1), shared(ranks, 2)
    found = run(argmax, ((a << bits) + c, (b << bits) + d)).value
    assert (found.sum(axis=-1) == 1).all()
    counts = found.sum(axis=0, dtype=np.int64)
    assert counts.sum() == counts[tied].sum()
    expected = trials / len(tied)
    statistic = ((counts[tied] - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(1 - 1e-6, len(tied) - 1)

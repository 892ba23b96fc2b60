import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lotor.core.draws import Draws, to_uniform
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf

OWN, SHARED = derive_key(b"draws", "own"), derive_key(b"draws", "shared")
places = st.tuples(st.integers(0, 1 << 40), st.integers(0, 255))


def draws(*indices: int) -> Draws:
    return Draws(Prf(OWN, indices), Prf(SHARED))


@given(st.integers(0, 2**64 - 1))
def test_uniforms_lie_strictly_between_zero_and_one(word: int) -> None:
    (uniform,) = to_uniform(np.array([word], dtype=np.uint64)).tolist()
    assert 2.0**-53 <= uniform <= 1.0 - 2.0**-53
    assert abs(uniform - word / 2**64) <= 2.0**-52


def test_the_extreme_words_have_finite_gumbel_draws() -> None:
    ends = to_uniform(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert ends.tolist() == [2.0**-53, 1.0 - 2.0**-53]
    assert (-np.log(-np.log(ends))).tolist() == pytest.approx([-3.6039, 36.7368], abs=1e-3)


@given(places, st.integers(0, 3))
def test_an_arm_draws_the_same_alone_and_among_others(place: tuple[int, int], stream: int) -> None:
    together, alone = draws(4, 7, 9).at(*place), draws(7).at(*place)
    assert together.uniform(stream)[1] == alone.uniform(stream)[0]
    assert together.gumbel(stream)[1] == alone.gumbel(stream)[0]
    assert together.ties()[1] == alone.ties()[0]
    assert together.coin(stream) == alone.coin(stream)


@given(places, places)
def test_a_draw_depends_on_its_place_alone(place: tuple[int, int], other: tuple[int, int]) -> None:
    draw = draws(0, 1)
    first = draw.at(*place).uniform().tolist()
    second = draw.at(*other).uniform().tolist()
    assert draw.at(*place).uniform().tolist() == first
    assert (first == second) == (place == other)


def test_ties_streams_and_the_coin_are_different_draws() -> None:
    draw = draws(0).at(5, 1)
    ties = to_uniform(np.array(draw.ties(), dtype=np.uint64))[0]
    values = [ties, draw.coin(0), draw.coin(1), *(draw.uniform(stream)[0] for stream in range(3))]
    assert len(set(values)) == len(values)


def test_laws_of_the_draws() -> None:
    draw = draws(0, 1, 2, 3)
    uniforms = np.array([draw.at(t, 1).uniform() for t in range(2500)])
    gumbels = np.array([draw.at(t, 1).gumbel() for t in range(2500)])
    coins = [draw.at(t, 1).coin() for t in range(2500)]
    assert stats.kstest(uniforms.ravel(), "uniform").pvalue > 1e-3
    assert stats.kstest(gumbels.ravel(), "gumbel_r").pvalue > 1e-3
    assert stats.kstest(coins, "uniform").pvalue > 1e-3
    correlations = np.corrcoef(uniforms.T) - np.eye(4)
    assert abs(correlations).max() < 4 / np.sqrt(2500)

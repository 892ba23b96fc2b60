"""Each draw follows its law, depends on nothing but key and round, and is shared as it should."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.contextual_draws import (
    COINS,
    SERVERS,
    ContextualDraws,
    ServerDraws,
    threshold,
)
from lotor.protocols.party import Run, draw_key

PINNED = (7744460145064849884, 4, [4, 2, 3, 0, 1])

keys = st.binary(min_size=32, max_size=32)


def plan(k: int, seed: int = 7) -> Run:
    return Run("00" * 16, k, 100, RewardScale(), seed, None, 1)


@given(keys, st.integers(1, 40), st.permutations(range(1, 30)))
def test_a_servers_draws_are_functions_of_the_round(key: bytes, k: int, order: list[int]) -> None:
    draws, again = ServerDraws(key, k), ServerDraws(key, k)

    def all_of(source: ServerDraws, t: int) -> tuple[int, int, list[int]]:
        return source.coin(t), source.turn(t), source.order(t).tolist()

    forward = {t: all_of(draws, t) for t in range(1, 30)}
    assert {t: all_of(again, t) for t in order} == forward
    # Asked for alone, too.
    assert all(ServerDraws(key, k).turn(t) == forward[t][1] for t in (1, 17, 29))
    assert all(sorted(ranks) == list(range(k)) for _, _, ranks in forward.values())
    assert all(0 <= coin < COINS and 0 <= turn < k for coin, turn, _ in forward.values())


def test_draws_are_pinned() -> None:
    """What a federation agreed on must not change with a version."""
    draws = ServerDraws(draw_key(7, SERVERS[0]), 5)
    assert (draws.coin(1), draws.turn(1), draws.order(1).tolist()) == PINNED


@given(st.integers(0, 2**48), st.integers(1, 30), st.floats(1e-6, 1))
def test_both_servers_decide_together(seed: int, k: int, epsilon: float) -> None:
    run = plan(k, seed)
    first, second = (ServerDraws(draw_key(seed, name), k) for name in SERVERS)
    both = ContextualDraws.simulated(run, epsilon)
    for t in range(1, 20):
        coin = first.coin(t) ^ second.coin(t)
        assert both.explores(t) == (Fraction(coin, COINS) < Fraction(threshold(epsilon), COINS))
        assert both.arm(t) == (first.turn(t) + second.turn(t)) % k
        assert both.ranks(t).tolist() == first.order(t).tolist()


ROUNDS = 20_000
LEAST = 1e-4
"""The least p-value that passes: the seeds are fixed, so a pass stays one."""


@pytest.mark.parametrize(
    "draw",
    [
        lambda first, second, t: first.turn(t),
        lambda first, second, t: second.turn(t),
        lambda first, second, t: (first.turn(t) + second.turn(t)) % 7,
        lambda first, second, t: first.coin(t) * 7 >> 64,
        lambda first, second, t: (first.coin(t) ^ second.coin(t)) * 7 >> 64,
        lambda first, second, t: int(first.order(t)[3]),
        # What one server knows says nothing about what both draw.
        lambda first, second, t: 7 * first.turn(t) + (first.turn(t) + second.turn(t)) % 7,
        lambda first, second, t: 7 * (first.coin(t) * 7 >> 64) + first.turn(t),
        lambda first, second, t: 7 * first.turn(t) + int(first.order(t)[0]),
    ],
)
def test_draws_are_uniform(draw: Callable[[ServerDraws, ServerDraws, int], int]) -> None:
    first, second = (ServerDraws(draw_key(11, name), 7) for name in SERVERS)
    counts = Counter(draw(first, second, t) for t in range(1, ROUNDS + 1))
    cells = 49 if max(counts) >= 7 else 7
    assert set(counts) == set(range(cells))
    assert chisquare([counts[cell] for cell in range(cells)]).pvalue > LEAST


def test_every_order_of_arms_is_as_likely() -> None:
    draws = ServerDraws(draw_key(3, SERVERS[0]), 4)
    counts = Counter(tuple(draws.order(t).tolist()) for t in range(1, ROUNDS + 1))
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > LEAST


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 0.9])
def test_it_explores_as_often_as_it_should(epsilon: float) -> None:
    draws = ContextualDraws.simulated(plan(10), epsilon)
    often = sum(draws.explores(t) for t in range(1, ROUNDS + 1))
    expected = [ROUNDS * epsilon, ROUNDS * (1 - epsilon)]
    assert chisquare([often, ROUNDS - often], expected).pvalue > LEAST


def test_never_and_always() -> None:
    never, always = (ContextualDraws.simulated(plan(3), epsilon) for epsilon in (0, 1))
    assert not any(never.explores(t) for t in range(1, 500))
    assert all(always.explores(t) for t in range(1, 500))


@given(st.floats(2.0**-60, 1))
def test_the_threshold_is_the_nearest_number_of_coins(epsilon: float) -> None:
    assert abs(threshold(epsilon) - Fraction(epsilon) * COINS) <= Fraction(1, 2)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, nan, 1e-30])
def test_what_no_coin_can_do_is_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        threshold(epsilon)


def test_no_key_in_a_repr() -> None:
    server = ServerDraws(draw_key(1, SERVERS[0]), 3)
    assert repr(server) == "<ServerDraws for 3 arms>"
    assert repr(ContextualDraws((server, server), 3, 5)) == "<ContextualDraws for 3 arms>"


def test_one_arm_is_always_the_one() -> None:
    draws = ContextualDraws.simulated(plan(1), 0.5)
    assert {draws.arm(t) for t in range(1, 50)} == {0}
    assert np.array_equal(draws.ranks(1), [0])

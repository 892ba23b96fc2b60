from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb, exp, fsum, inf, isfinite, log, sqrt, tanh
from typing import TypeAlias

import dp_accounting  # type: ignore[import-untyped]
import msgspec
import numpy as np
import pytest
from dp_accounting.pld import (  # type: ignore[import-untyped]
    privacy_loss_distribution as distribution,
)
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.privacy import Accountant, PrivacySpent
from lotor.privacy.mechanism import EXCESS

# How likely each sequence of arms is.
Chances: TypeAlias = dict[tuple[int, ...], float]

REPLACED = dp_accounting.NeighboringRelation.REPLACE_ONE
BOUNDS: list[Callable[[Accountant, int], float]] = [
    Accountant.basic,
    Accountant.advanced,
    Accountant.renyi,
    Accountant.total,
]

ARMS = st.integers(1, 10_000)
EPSILONS = st.floats(0.0, 1.0, exclude_min=True) | st.floats(2.0**-53, 0.5).map(lambda x: 1.0 - x)
DELTAS = st.floats(-30.0, -2.0).map(lambda power: 10.0**power) | st.just(0.0)
STEPS = st.integers(0, 10_000_000)
ACCOUNTANTS = st.builds(Accountant, arms=ARMS, epsilon=EPSILONS, delta=DELTAS)


def exact_delta(accountant: Accountant, steps: int, bound: float) -> float:
    """The least delta that is true with this bound, where the greedy arm differs in each step."""
    p = 1.0 - accountant.epsilon + accountant.epsilon / accountant.arms
    q = accountant.epsilon / accountant.arms
    rest = max(0.0, 1.0 - p - q)
    terms = []
    for more, less in product(range(steps + 1), repeat=2):
        loss = (more - less) * accountant.per_step
        if more + less <= steps and loss > bound:
            ways = comb(steps, more) * comb(steps - more, less)
            chance = ways * p**more * q**less * rest ** (steps - more - less)
            terms.append(chance * (1.0 - exp(bound - loss)))
    return fsum(terms)


@given(
    arms=st.integers(2, 40),
    epsilon=st.floats(1e-4, 0.9999),
    delta=st.floats(-9.0, -2.0).map(lambda power: 10.0**power),
    steps=st.integers(1, 25),
)
def test_every_bound_holds_in_the_worst_case(
    arms: int, epsilon: float, delta: float, steps: int
) -> None:
    accountant = Accountant(arms, epsilon, delta)
    for bound in BOUNDS:
        # Where a bound is tight, the last digit of a float shows in so small a delta.
        rounded = bound(accountant, steps) * (1 + 1e-12)
        assert exact_delta(accountant, steps, rounded) <= delta * (1 + 1e-9)


@given(
    arms=st.integers(2, 4),
    epsilon=st.floats(0.01, 0.99),
    delta=st.floats(-6.0, -2.0).map(lambda power: 10.0**power),
    steps=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_bound_holds_for_learners_that_look_back(
    arms: int, epsilon: float, delta: float, steps: int, seed: int
) -> None:
    """Two learners choose a greedy arm, or a tie, after each history: any two may be neighbours."""
    rng = np.random.default_rng(seed)
    ones: Chances = {(): 1.0}
    others: Chances = {(): 1.0}
    for _ in range(steps):
        longer: tuple[Chances, Chances] = ({}, {})
        for history in ones:
            for learner, now in zip(longer, (ones, others), strict=True):
                greedy = np.eye(arms)[rng.integers(arms, size=rng.integers(1, 3))].mean(axis=0)
                chances = (1.0 - epsilon) * greedy + epsilon / arms
                for arm, chance in enumerate(chances.tolist()):
                    learner[(*history, arm)] = now[history] * chance
        ones, others = longer
    accountant = Accountant(arms, epsilon, delta)
    for bound in BOUNDS:
        factor = exp(bound(accountant, steps))
        true = fsum(max(0.0, chance - factor * others[seen]) for seen, chance in ones.items())
        assert true <= delta + 1e-12


@given(arms=st.integers(2, 40), epsilon=st.floats(1e-3, 0.999))
def test_per_step_is_exact(arms: int, epsilon: float) -> None:
    accountant = Accountant(arms, epsilon)
    assert exact_delta(accountant, 1, accountant.per_step * 0.999) > 0.0
    assert exact_delta(accountant, 1, accountant.per_step) == 0.0


@pytest.mark.parametrize("arms", [2, 10])
@pytest.mark.parametrize("epsilon", [0.1, 0.99])
@pytest.mark.parametrize(("steps", "delta"), [(1, 1e-2), (100, 1e-6), (1797, 1e-6)])
def test_renyi_is_what_dp_accounting_says(
    arms: int, epsilon: float, steps: int, delta: float
) -> None:
    accountant = Accountant(arms, epsilon, delta)
    # Theirs does not use orders below 1.01.
    orders = 1.0 + EXCESS[(EXCESS > 0.011) & (EXCESS < 1e4)]
    theirs = RdpAccountant(orders.tolist(), REPLACED).compose(
        dp_accounting.RandomizedResponseDpEvent(epsilon, arms), steps
    )
    expected = min(theirs.get_epsilon(delta), accountant.basic(steps))
    assert accountant.renyi(steps) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("arms", "epsilon", "steps", "interval"),
    [(10, 0.1, 1797, 1e-2), (10, 0.5, 1000, 1e-2), (3, 0.99, 1797, 1e-4), (2, 0.999, 1000, 1e-6)],
)
def test_total_is_close_to_the_exact_figure(
    arms: int, epsilon: float, steps: int, interval: float
) -> None:
    """Beside the distribution of losses of dp-accounting, which is exact but for its grid."""
    losses = distribution.from_randomized_response(
        epsilon,
        arms,
        pessimistic_estimate=False,
        value_discretization_interval=interval,
        neighboring_relation=REPLACED,
    ).self_compose(steps)
    optimistic = losses.get_epsilon_for_delta(1e-6)
    assert optimistic <= Accountant(arms, epsilon).total(steps) <= 1.1 * optimistic


@given(accountant=ACCOUNTANTS, steps=STEPS)
def test_figures_are_numbers_and_the_total_is_the_least(accountant: Accountant, steps: int) -> None:
    figures = [bound(accountant, steps) for bound in BOUNDS]
    assert all(isfinite(figure) and figure >= 0.0 for figure in figures)
    assert figures[-1] == max(min(figures[:-1]), accountant.per_step if steps else 0.0)
    assert figures[0] == max(figures)
    assert accountant.total(steps) <= accountant.total(steps + 1)


@given(accountant=ACCOUNTANTS, steps=STEPS)
def test_no_delta_makes_the_total_of_arms_that_tell_something_zero(
    accountant: Accountant, steps: int
) -> None:
    assert (accountant.total(steps) == 0.0) == (accountant.basic(steps) == 0.0)


@given(accountant=ACCOUNTANTS, steps=STEPS, smaller=st.floats(0.0, 1.0))
def test_a_smaller_delta_never_tells_less(
    accountant: Accountant, steps: int, smaller: float
) -> None:
    stricter = replace(accountant, delta=accountant.delta * smaller)
    assert stricter.total(steps) >= accountant.total(steps)


@given(accountant=ACCOUNTANTS, steps=STEPS)
def test_advanced_is_never_above_the_published_forms(accountant: Accountant, steps: int) -> None:
    loss = accountant.per_step
    if accountant.delta > 0.0:
        chance = loss * sqrt(2.0 * steps * -log(accountant.delta))
        kairouz = steps * loss * tanh(loss / 2.0) + chance
        assert accountant.advanced(steps) <= kairouz * (1 + 1e-9)


@given(accountant=ACCOUNTANTS, budget=st.floats(0.0, 1e9))
def test_steps_is_exact_at_the_boundary(accountant: Accountant, budget: float) -> None:
    steps = accountant.steps(budget)
    assert accountant.total(steps) <= budget
    assert steps == MAXIMAL_BUDGET or accountant.total(steps + 1) > budget


@given(accountant=ACCOUNTANTS, steps=st.integers(1, 10_000_000))
def test_a_budget_of_the_total_allows_these_steps(accountant: Accountant, steps: int) -> None:
    assert accountant.steps(accountant.total(steps)) >= steps


@given(epsilon=st.floats(0.0, 1.0), steps=STEPS)
def test_a_single_arm_tells_nothing(epsilon: float, steps: int) -> None:
    alone = Accountant(1, epsilon)
    assert alone.per_step == alone.total(steps) == alone.basic(steps) == 0.0
    assert alone.steps(0.0) == MAXIMAL_BUDGET


def test_what_a_delta_excuses_costs_as_much_as_one_step() -> None:
    accountant = Accountant(6_000, 0.99999, delta=0.01)
    theirs = RdpAccountant([1.001, 2.0], REPLACED).compose(
        dp_accounting.RandomizedResponseDpEvent(0.99999, 6_000)
    )
    assert theirs.get_epsilon(0.01) == accountant.renyi(1) == 0.0
    assert exact_delta(accountant, 1, 0.0) <= 0.01
    assert accountant.total(1) == accountant.total(2) == accountant.per_step > 0.0
    assert accountant.total(0) == 0.0


@given(arms=ARMS, steps=STEPS)
def test_pure_exploration_tells_nothing(arms: int, steps: int) -> None:
    assert Accountant(arms, 1.0).per_step == Accountant(arms, 1.0).total(steps) == 0.0


def test_no_exploration_tells_everything() -> None:
    greedy = Accountant(10, 0.0)
    assert greedy.per_step == greedy.paper_per_step == inf
    assert [bound(greedy, 5) for bound in BOUNDS] == [inf] * 4
    assert [bound(greedy, 0) for bound in BOUNDS] == [0.0] * 4
    assert greedy.steps(1e300) == 0
    assert greedy.steps(inf) == MAXIMAL_BUDGET


@given(accountant=ACCOUNTANTS | st.just(Accountant(10, 0.0)), steps=STEPS)
def test_what_was_spent_survives_json(accountant: Accountant, steps: int) -> None:
    spent = accountant.spent(steps)
    again = msgspec.json.decode(msgspec.json.encode(spent), type=PrivacySpent)
    assert again == spent
    assert again.steps == steps
    assert (inf if again.total is None else again.total) == accountant.total(steps)
    assert (inf if again.per_step is None else again.per_step) == accountant.per_step


def test_what_was_spent_says_what_it_covers() -> None:
    spent = Accountant(10, 0.0).spent(5)
    assert spent.total is spent.per_step is spent.basic is None
    assert "the arms" in spent.covers
    assert "not cover the rewards" in spent.covers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arms": 0, "epsilon": 0.1}, "arms is 0"),
        ({"arms": 2.5, "epsilon": 0.1}, "arms is 2.5: give a whole number"),
        ({"arms": 2, "epsilon": 1.1}, "epsilon is a probability"),
        ({"arms": 2, "epsilon": float("nan")}, "epsilon is a probability"),
        ({"arms": 2, "epsilon": "0.1"}, "epsilon is '0.1': give a number"),
        ({"arms": 2, "epsilon": 0.1, "delta": 1.0}, "delta is the probability"),
        ({"arms": 2, "epsilon": 0.1, "delta": -1e-9}, "delta is the probability"),
        ({"arms": 2, "epsilon": 0.1, "delta": -0.0}, "delta is the probability"),
        ({"arms": 2, "epsilon": 0.1, "delta": 0.0101}, "from 0 to 0.01, such as 1e-6, not 0.0101"),
        ({"arms": 2, "epsilon": 0.1, "delta": 1 - 2**-53}, "delta is the probability"),
        ({"arms": 2, "epsilon": 0.1, "delta": 10**400}, "delta is too large"),
        ({"arms": 2, "epsilon": 0.1, "delta": float("nan")}, "delta is the probability"),
    ],
)
def test_bad_parameters_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Accountant(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [-1, True, 2**40])
@pytest.mark.parametrize("bound", BOUNDS)
def test_bad_steps_are_refused(bound: Callable[[Accountant, int], float], steps: int) -> None:
    with pytest.raises(InputError, match="steps is"):
        bound(Accountant(10, 0.1), steps)


@pytest.mark.parametrize("budget", [-1.0, float("nan")])
def test_bad_budgets_are_refused(budget: float) -> None:
    with pytest.raises(InputError, match=r"privacy budget is .*: give a number of at least 0"):
        Accountant(10, 0.1).steps(budget)


def test_allowed_steps_end_with_the_budget() -> None:
    accountant = Accountant(arms=10, epsilon=0.5)
    fit = accountant.steps(40.0)
    assert accountant.allowed(10**6, None) == 10**6
    assert accountant.allowed(10**6, 40.0) == fit
    assert accountant.allowed(fit - 1, 40.0) == fit - 1
    with pytest.raises(InputError, match="privacy budget"):
        accountant.allowed(100, 0.5)


def test_runs_that_continue_each_other_have_one_budget() -> None:
    accountant = Accountant(10, 0.1)
    for told in (accountant.total(3), 7.25):
        fit = accountant.allowed(10**6, 40.0, told)
        assert told + accountant.total(fit) <= 40.0 < told + accountant.total(fit + 1)
    assert accountant.allowed(10**6, None, inf) == 10**6
    for told in (40.0, 41.0, inf):
        with pytest.raises(InputError, match="the privacy budget for all of them is 40"):
            accountant.allowed(10**6, 40.0, told)

"""A run ends before its arms could tell more than the privacy budget."""

import pytest

import lotor
from lotor.core.errors import InputError
from lotor.privacy import Accountant
from protocols.ppcb.stage import some_arms

ARMS = some_arms(1, rounds=40, k=3, d=2)


@pytest.mark.parametrize(
    ("budget", "epsilon", "delay"), [(20.0, 0.2, 0), (3.0, 1.0, 2), (9, 0.5, 3)]
)
def test_it_ends_where_the_accountant_says(budget: float, epsilon: float, delay: int) -> None:
    protocol = lotor.PPCB(epsilon=epsilon, privacy_budget=budget, delay=delay, form="dealt")
    secure = lotor.run(protocol, ARMS, budget=40, seed=2)
    plain = lotor.run(protocol.plain(), ARMS, budget=40, seed=2)
    accountant = Accountant(3, epsilon)
    assert secure.rounds == min(40, accountant.steps(budget)) == len(secure.arms or [])
    assert secure.agrees_with(plain)
    assert secure.privacy is not None
    assert secure.privacy["steps"] == secure.rounds
    assert secure.privacy["total"] == accountant.total(secure.rounds) <= budget


def test_the_stop_falls_between_steps() -> None:
    """One unit more of the budget, and one step more."""
    accountant = Accountant(3, 0.3)
    for steps in (1, 7):
        exactly = accountant.total(steps)
        for budget, expected in ((exactly, steps), (exactly * (1 - 1e-9), steps - 1)):
            protocol = lotor.PPCB(epsilon=0.3, privacy_budget=budget, form="dealt")
            if expected == 0:
                with pytest.raises(InputError, match="one step tells"):
                    lotor.run(protocol, ARMS, budget=40, seed=2)
            else:
                assert lotor.run(protocol, ARMS, budget=40, seed=2).rounds == expected


def test_another_delta_is_another_end() -> None:
    protocol = lotor.PPCB(epsilon=0.9, privacy_budget=3.0, delta=1e-2, form="dealt")
    result = lotor.run(protocol, ARMS, budget=40, seed=2)
    assert result.rounds == Accountant(3, 0.9, 1e-2).steps(3.0) > Accountant(3, 0.9).steps(3.0)
    assert result.privacy is not None
    assert result.privacy["delta"] == 1e-2


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_what_is_spent_survives_json(epsilon: float) -> None:
    """Infinite, as without exploration, is None."""
    result = lotor.run(lotor.PPCB(epsilon=epsilon, form="dealt"), ARMS, budget=4, seed=1)
    again = lotor.Result.from_json(result.to_json())
    assert again == result
    assert again.privacy is not None
    assert (again.privacy["total"] is None) == (epsilon == 0)
    assert "does not cover the rewards" in str(again.privacy["covers"])


def test_the_whole_budget_is_used_where_privacy_allows_more() -> None:
    protocol = lotor.PPCB(epsilon=0.5, privacy_budget=1e9, form="dealt")
    assert lotor.run(protocol, ARMS, budget=6, seed=1).rounds == 6

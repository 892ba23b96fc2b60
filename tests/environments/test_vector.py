"""Arms that are vectors, with the user's own function."""

import numpy as np
import pytest

import lotor
from lotor.core.effects import Decision
from lotor.core.errors import InputError

RING = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]


def paid(decision: Decision) -> float:
    return decision.arm / 10


def test_a_decision_is_answered_by_the_function() -> None:
    arms = lotor.VectorArms({"tea": [1.0, 0.0], "milk": [0.0, 1.0]}, paid, reward_range=(0, 1))
    assert (arms.k, arms.d, arms.names) == (2, 2, ("tea", "milk"))
    assert arms.eigenvalues is None
    assert arms.start(3)(Decision.named("aa", 1, 1)) == 0.1


def test_the_nodes_of_a_graph_are_those_of_graph_arms() -> None:
    arms, known = lotor.VectorArms.on_graph(RING, paid), lotor.GraphArms(RING, [0.1] * 4)
    assert np.array_equal(arms.vectors, known.vectors)
    assert arms.eigenvalues is not None
    assert known.eigenvalues is not None
    assert np.array_equal(arms.eigenvalues, known.eigenvalues)


def test_linear_policies_learn_from_them_in_plain() -> None:
    arms = lotor.VectorArms([[1.0, 0.0], [0.0, 1.0]], lambda one: 0.2 + 0.6 * one.arm)
    result = lotor.run(lotor.LinUCB(), arms, budget=60, seed=1)
    assert result.arms is not None
    assert result.rewards is not None
    assert result.arms.count(1) > 50
    assert result.reward == pytest.approx(sum(result.rewards))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="give a function that takes a Decision"):
        lotor.VectorArms([[1], [2]], [paid, paid])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to choose"):
        lotor.VectorArms([[1]], paid)
    with pytest.raises(InputError, match="reward_range"):
        lotor.VectorArms([[1], [2]], paid, reward_range=(1, 0))


def test_a_catalogue_without_a_function_cannot_be_simulated() -> None:
    catalogue = lotor.VectorArms([[1], [2]])
    with pytest.raises(InputError, match="no function that answers pulls"):
        lotor.run(lotor.LinUCB(), catalogue, budget=5, seed=1)

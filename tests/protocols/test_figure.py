"""Outcomes that differ by their seeds alone are one row."""

import numpy as np
import pytest

from lotor.protocols.cell import Label, Outcome
from lotor.protocols.figure import grouped, mean_rows, summary


def test_means_are_of_those_that_have_the_figure() -> None:
    outcomes = [
        Outcome(labels={"form": "paper"}, figures={"ms": 1.0, "cpu of comp": 3.0}),
        Outcome(labels={"form": "plain"}, figures={"ms": 5.0}),
        Outcome(labels={"form": "paper"}, figures={"ms": 2.0, "cpu of comp": 4.0}),
    ]
    assert [len(found) for found in grouped(outcomes).values()] == [2, 1]
    assert mean_rows(outcomes, ("ms", "cpu of comp")) == {
        "form": ["paper", "plain"],
        "runs": [2, 1],
        "ms": [1.5, 5.0],
        "cpu of comp": [3.5, None],
    }


def test_a_mean_of_some_outcomes_alone_is_refused() -> None:
    labels: dict[str, Label] = {"form": "paper"}
    outcomes = [Outcome(labels=labels, figures=one) for one in ({"ms": 1.0}, {})]
    with pytest.raises(ValueError, match="only 1 of 2 outcomes have 'ms'"):
        mean_rows(outcomes, ("ms",))


def test_one_run_says_nothing_about_the_spread() -> None:
    assert summary("reward", np.array([3.0])) == {
        "runs": 1,
        "reward": 3.0,
        "standard deviation": None,
        "standard error": None,
    }
    several = summary("reward", np.array([1.0, 3.0, 1.0, 3.0]))
    assert several["reward"] == 2.0
    assert several["standard error"] == pytest.approx((4 / 3) ** 0.5 / 2)

"""Every constructor answers values of a wrong kind with an InputError, never a bare TypeError."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lotor.core.errors import InputError
from lotor.environments import (
    BernoulliArms,
    CallbackArms,
    ChangingArms,
    ContextualArms,
    GraphArms,
    LinearArms,
    LinearContexts,
    Outcomes,
    RatingArms,
)

TWO, ROUND = [[1.0, 0.0], [0.0, 1.0]], [[[1.0, 0.0], [0.0, 1.0]]]
WRONG = [
    0.5,
    True,
    None,
    "0.5,0.1",
    "half",
    b"ab",
    {0.5, 0.1},
    {"a": "half"},
    {},
    object(),
    len,
    [None],
    ["a"],
    [[0.5, 0.1], [0.5]],
    [[[[0.5]]]],
    [float("nan")],
    [1 + 2j],
]
# Each with a place for what is wrong; lists and tables of numbers, functions, paths and ranges.
CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "means": BernoulliArms,
    "functions": CallbackArms,
    "phases": ChangingArms,
    "means of a phase": lambda x: ChangingArms([(1, x)]),
    "reward range": lambda x: CallbackArms([lambda _: 1.0], reward_range=x),
    "contexts": lambda x: ContextualArms(x, [[1, 0]]),
    "rewards": lambda x: ContextualArms([[1, 0]], x),
    "range of contexts": lambda x: ContextualArms([[1, 0]], [[1, 0]], reward_range=x),
    "probabilities": lambda x: ContextualArms.bernoulli([[1, 0]], x),
    "clusters": lambda x: ContextualArms.kmeans(x, 1, seed=0),
    "mnist": ContextualArms.mnist,
    "vectors": lambda x: LinearArms(x, [1, 0]),
    "theta": lambda x: LinearArms(TWO, x),
    "movies": lambda x: LinearArms.movielens(x, k=2, user=1, d=2),
    "weights": lambda x: GraphArms(x, [1, 0]),
    "values": lambda x: GraphArms([[0, 1], [1, 0]], x),
    "nearest": lambda x: GraphArms.nearest(x, [1, 0]),
    "contexts of arms": lambda x: LinearContexts(x, [1, 0]),
    "theta of contexts": lambda x: LinearContexts(ROUND, x),
    "rated means": lambda x: RatingArms(x, [1], ""),
    "movielens": lambda x: RatingArms.movielens(x, k=2),
    "jester": lambda x: RatingArms.jester(x, k=2),
}
# Here a number is right.
NUMBERS: dict[str, Callable[..., object]] = {
    "noise": lambda x: LinearArms(TWO, [1, 0], noise_sd=x),
    "noise of contexts": lambda x: LinearContexts(ROUND, [1, 0], noise_sd=x),
    "sigma": lambda x: ContextualArms.kmeans(TWO, 1, seed=0, sigma=x),
    "rounds": lambda x: ContextualArms.lookalike(x, 2, 2, 0),
    "arms": lambda x: ContextualArms.lookalike(2, x, 2, 0),
    "rounds of arms": LinearContexts.toy,
    "length": lambda x: LinearContexts.random(3, arms=2, d=2, seed=1, length=x),
    "threshold": lambda x: RatingArms.jester("/dev/null", k=1, threshold=x),
}


@pytest.mark.parametrize("what", CONSTRUCTORS)
def test_a_list_a_table_or_a_path(what: str) -> None:
    for wrong in WRONG:
        with pytest.raises(InputError):
            CONSTRUCTORS[what](wrong)


@pytest.mark.parametrize("what", NUMBERS)
def test_a_number(what: str) -> None:
    for wrong in WRONG[1:]:
        with pytest.raises(InputError):
            NUMBERS[what](wrong)


def test_outcomes(tmp_path: Path) -> None:
    for wrong in WRONG:
        with pytest.raises(InputError):
            Outcomes.create(tmp_path / "a.db", wrong)  # type: ignore[arg-type]
        if isinstance(wrong, str):
            continue
        with pytest.raises(InputError):
            Outcomes(tmp_path / "a.db", wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            Outcomes(wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_error_says_what_to_give() -> None:
    with pytest.raises(InputError, match="the means cannot be of type float: give a list"):
        BernoulliArms(0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="arm 1 has mean"):
        BernoulliArms([0.5, [0.1]])  # type: ignore[list-item]

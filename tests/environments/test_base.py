from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import (
    BernoulliArms,
    CallbackArms,
    Environment,
    LinearArms,
    PullFunction,
    RatingArms,
)
from lotor.environments.base import names_of

ENVIRONMENTS: Sequence[Callable[[], Environment]] = [
    lambda: BernoulliArms([0.25, 0.75]),
    lambda: CallbackArms([lambda decision: 0.25, lambda decision: 0.75]),
    lambda: RatingArms([0.25, 0.75], items=[3, 9], terms="none"),
]


class Certain:
    k = 2
    reward_range = (0.0, 1.0)

    def start(self, seed: int) -> PullFunction:
        return lambda decision: float(decision.arm)


@pytest.mark.parametrize("make", [*ENVIRONMENTS, Certain])
def test_an_environment_has_arms_a_range_and_runs(make: Callable[[], Environment]) -> None:
    environment = make()
    assert environment.k == 2
    low, high = environment.reward_range
    pull = environment.start(7)
    for arm in range(environment.k):
        reward = pull(Decision("run", 1, arm, "run-1"))
        assert isinstance(reward, float)
        assert low <= reward <= high


@pytest.mark.parametrize(
    "make",
    [
        BernoulliArms,
        lambda given: CallbackArms({name: lambda _: 0.5 for name in given}),
        lambda given: LinearArms({name: [mean, 1.0] for name, mean in given.items()}, [0.5, 0.5]),
    ],
    ids=["means", "functions", "vectors"],
)
def test_a_mapping_names_the_arms(make: Callable[[dict[str, float]], Environment]) -> None:
    assert names_of(make({"drug A": 0.2, "drug B": 0.8})) == ("drug A", "drug B")
    for wrong in ({"": 0.2, "b": 0.5}, {"a\n": 0.2, "b": 0.5}, {7: 0.2, "b": 0.5}):
        with pytest.raises(InputError, match="name in plain text"):
            make(wrong)  # type: ignore[arg-type]


@given(
    means=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    arms=st.lists(st.integers(0, 4), max_size=20),
)
def test_regrets_are_what_the_best_arm_would_have_added(
    means: list[float], arms: list[int]
) -> None:
    arms = [arm % len(means) for arm in arms]
    found = BernoulliArms(means).regrets(arms).tolist()
    assert found == [max(means) - means[arm] for arm in arms]


def test_regrets_of_arms_that_are_not_there() -> None:
    for arms in ([2], [-1], [[0]], 0):
        with pytest.raises(InputError, match="a trajectory"):
            BernoulliArms([0.1, 0.2]).regrets(arms)  # type: ignore[arg-type]

from collections.abc import Callable, Sequence

import pytest

from lotor.core.effects import Decision
from lotor.environments import BernoulliArms, CallbackArms, Environment, PullFunction, RatingArms

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

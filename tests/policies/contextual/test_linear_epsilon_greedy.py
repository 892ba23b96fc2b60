from math import inf, nan

import pytest

from lotor.core.errors import InputError
from lotor.policies import LinearEpsilonGreedy
from lotor.policies.contextual.linear_epsilon_greedy import RECOMPUTE


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"epsilon": -0.1}, r"from 0 to 1, not"),
        ({"epsilon": 1.5}, r"from 0 to 1, not"),
        ({"epsilon": nan}, r"from 0 to 1, not"),
        ({"epsilon": "often"}, "epsilon is 'often': give a number"),
        ({"epsilon": True}, "epsilon is True: give a number"),
        ({"ridge": 0}, "ridge is 0"),
        ({"ridge": -1}, "ridge is -1"),
        ({"ridge": inf}, "finite number above 0"),
        ({"ridge": 1e-7}, "floats would round away"),
        ({"recompute": 0}, "recompute is 0"),
        ({"recompute": 2.5}, "whole number of updates"),
        ({"recompute": nan}, "whole number of updates"),
        ({"recompute": inf}, "whole number of updates"),
    ],
)
def test_unusable_parameters_are_refused(options: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LinearEpsilonGreedy(**options)  # type: ignore[arg-type]


def test_numbers_become_of_their_kind() -> None:
    policy = LinearEpsilonGreedy(0, ridge=2, recompute=50.0)  # type: ignore[arg-type]
    assert repr(policy) == "LinearEpsilonGreedy(epsilon=0.0, ridge=2.0, recompute=50)"


def test_only_epsilon_goes_without_its_name() -> None:
    with pytest.raises(TypeError):
        LinearEpsilonGreedy(0.1, 1.0)  # type: ignore[call-arg]


def test_the_stated_default_is_the_one_that_is_used() -> None:
    stated, default = LinearEpsilonGreedy(recompute=RECOMPUTE), LinearEpsilonGreedy()
    assert f"{RECOMPUTE:,}" in (LinearEpsilonGreedy.__doc__ or "")
    assert vars(stated.start(2, 3))["_recompute"] == vars(default.start(2, 3))["_recompute"]

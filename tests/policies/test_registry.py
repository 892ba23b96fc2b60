from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import SCORE_LIMIT
from lotor.policies import (
    POLICIES,
    UCB,
    ArmStates,
    Draws,
    EpsilonGreedy,
    Floats,
    Policy,
    Pursuit,
    ReinforcementComparison,
    Softmax,
    ThompsonSampling,
    from_text,
    to_text,
)

rates = st.floats(0.0, 1.0, exclude_min=True)
policies = st.one_of(
    st.just(UCB()),
    st.just(ThompsonSampling()),
    st.builds(EpsilonGreedy, st.floats(0.0, 1.0) | st.sampled_from(["1/ln", "1/log2"])),
    st.builds(Softmax, st.floats(2.0 / SCORE_LIMIT, allow_infinity=False)),
    st.builds(Pursuit, rates),
    st.builds(ReinforcementComparison, rates, rates),
)


@given(policies)
def test_text_names_a_policy_exactly(policy: Policy) -> None:
    assert from_text(to_text(policy)) == policy


@pytest.mark.parametrize(("name", "kind"), POLICIES.items())
def test_a_bare_name_means_the_defaults(name: str, kind: type[Policy]) -> None:
    assert from_text(name) == kind()
    assert to_text(kind()).partition(":")[0] == name


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("softmax:tau=1", Softmax(1.0)),
        ("epsilon-greedy:epsilon=1/ln", EpsilonGreedy("1/ln")),
        ("epsilon-greedy:epsilon=0", EpsilonGreedy(0.0)),
        ("reinforcement-comparison:beta=0.5", ReinforcementComparison(beta=0.5)),
        ("reinforcement-comparison:beta=0.5,alpha=0.2", ReinforcementComparison(0.2, 0.5)),
    ],
)
def test_texts(text: str, policy: Policy) -> None:
    assert from_text(text) == policy


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no policy is called ''"),
        ("UCB", "choose one of batched-oful, discounted-ucb"),
        ("ucb:c=2", "ucb has no parameter 'c': it takes no parameters"),
        ("softmax:beta=2", "no parameter 'beta': it takes tau"),
        ("softmax:0.1", "no parameter '0.1'"),
        ("softmax:tau=warm", "tau is 'warm': give a number"),
        ("softmax:tau=", "tau is '': give a number"),
        ("softmax:tau=nan", "tau is a temperature"),
        ("epsilon-greedy:epsilon=1/sqrt", "no schedule is called '1/sqrt'"),
        ("epsilon-greedy:epsilon=2", r"from 0 to 1, not"),
        ("pursuit:beta=inf", "beta is a learning rate"),
    ],
)
def test_texts_that_name_no_policy(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        from_text(text)


def one_in(t: int) -> float:
    return 1.0 / t


@dataclass(frozen=True, slots=True)
class Constant(Policy):
    level: float = 1.0

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return np.full(len(arms), self.level)


def test_what_no_package_offers_has_a_full_name() -> None:
    assert to_text(Constant(2.0)) == f"{__name__}:Constant:level=2.0"
    assert to_text(EpsilonGreedy(one_in)) == f"epsilon-greedy:epsilon={__name__}.one_in"
    with pytest.raises(InputError):
        from_text(to_text(Constant()))

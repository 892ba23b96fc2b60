from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.policies import canonical, from_text, to_text
from lotor.policies.contextual import (
    ContextualPolicy,
    LeastSquares,
    LinearEpsilonGreedy,
)

policies = st.builds(
    LinearEpsilonGreedy,
    st.floats(0, 1),
    ridge=st.floats(1e-6, 1e300),
    recompute=st.none() | st.integers(1, 2**40),
)


@given(policies)
def test_text_names_a_policy_exactly(policy: ContextualPolicy) -> None:
    text = to_text(policy)
    assert from_text(text) == policy
    assert canonical(text) == text


def test_one_text_for_each_policy() -> None:
    assert canonical("linear-epsilon-greedy") == "linear-epsilon-greedy:epsilon=0.1,ridge=1.0"
    assert canonical("linear-epsilon-greedy:ridge=2,epsilon=0.10,recompute=5") == (
        "linear-epsilon-greedy:epsilon=0.1,ridge=2.0,recompute=5"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("linear-epsilon-greedy:c=2", "no parameter 'c': it takes epsilon, ridge, recompute"),
        ("linear-epsilon-greedy:ridge=1,ridge=2", "two values of ridge"),
        ("linear-epsilon-greedy:ridge=small", "ridge is 'small': give a number"),
    ],
)
def test_texts_that_name_no_policy(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        from_text(text)


@dataclass(frozen=True, slots=True)
class Greedy(ContextualPolicy):
    weight: float = 1.0

    @property
    def epsilon(self) -> float:
        return 0.0

    def start(self, arms: int, d: int) -> LeastSquares:
        return LeastSquares(arms, d, ridge=self.weight, recompute=100)


def test_what_is_not_in_the_catalogue_has_a_full_name() -> None:
    assert to_text(Greedy()) == f"{__name__}:Greedy:weight=1.0"

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.policies import from_text, to_text
from lotor.policies.linear import (
    LinearModel,
    LinearPolicy,
    LinTS,
    LinUCB,
    SpectralUCB,
)

numbers = st.floats(0, allow_infinity=False, exclude_min=True)
rates = st.floats(0, 1, exclude_min=True)
bounds = numbers | st.just("log t")
policies = st.one_of(
    st.builds(LinUCB, numbers, rates, numbers, bounds, st.none() | numbers, st.none() | numbers),
    st.builds(LinTS, numbers, numbers, rates, numbers, numbers),
    st.builds(SpectralUCB, numbers, rates, numbers, bounds, numbers),
)


@given(policies)
def test_text_names_a_policy_exactly(policy: LinearPolicy) -> None:
    assert from_text(to_text(policy)) == policy


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("linucb:c=2", "linucb has no parameter 'c': it takes gamma, delta, R, S, L, theta_bound"),
        ("linucb:gamma=1,gamma=2", "two values of gamma"),
        ("linucb:gamma=small", "gamma is 'small': give a number"),
        ("linucb:S=log x", "'log t'"),
        ("spectral-ucb:S=1", "no parameter 'S'"),
    ],
)
def test_texts_that_name_no_policy(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        from_text(text)


@dataclass(frozen=True, slots=True)
class Greedy(LinearPolicy):
    gamma: float = 1.0

    @property
    def bound(self) -> float:
        return 1.0

    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        return LinearModel(vectors, np.full(vectors.shape[1], self.gamma), lambda _: 0.0)

    def check_theta(self, theta: Floats, eigenvalues: Floats | None = None) -> None:
        pass


def test_what_is_not_in_the_catalogue_has_a_full_name() -> None:
    assert to_text(Greedy()) == f"{__name__}:Greedy:gamma=1.0"

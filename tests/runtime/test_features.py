"""Features of a context are as many and as long as who asks for them says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.effects import Decision, Observe
from lotor.core.errors import PullError
from lotor.runtime.pulls import features, to_features

DECISION = Decision.hidden("aa", 2)


@given(
    values=st.lists(st.floats(-9, 9), min_size=1, max_size=5),
    length=st.floats(0.5, 20),
)
def test_no_longer_than_asked_for(values: list[float], length: float) -> None:
    actual = sum(value * value for value in values) ** 0.5
    if actual < length * (1 - 1e-6):
        assert to_features(DECISION, values, len(values), length) == tuple(values)
    elif actual > length * (1 + 1e-6):
        with pytest.raises(PullError, match=f"longer than {length:g} as a vector") as error:
            to_features(DECISION, values, len(values), length)
        assert str(values) not in str(error.value)


def test_all_arms_contexts_come_one_after_the_other() -> None:
    arms = lotor.LinearContexts.toy(3, seed=5)
    asked = Observe(DECISION, (0, 4), length=8.0)
    assert features(arms, asked) == tuple(arms.contexts_at(2).ravel().tolist())
    with pytest.raises(PullError, match="longer than 1"):
        features(arms, Observe(DECISION, (0, 4)))

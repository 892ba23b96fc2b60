import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.policies import canonical, from_text, to_text
from lotor.policies.optimistic import (
    OFUL,
    RSOFUL,
    RSOFULTR,
    BatchedOFUL,
    OptimisticPolicy,
)

positive = st.floats(1e-9, 1e9)
common = {"ridge": positive, "delta": st.floats(1e-9, 1), "sigma": positive, "S": positive}
common["L"] = positive
widths = st.sampled_from(["determinant", "public", "union"])
policies: st.SearchStrategy[OptimisticPolicy] = st.one_of(
    st.builds(OFUL, width=widths, **common),
    st.builds(RSOFUL, C=positive, width=widths, **common),
    st.builds(RSOFULTR, C=positive, width=widths, **common),
    st.builds(
        BatchedOFUL,
        index=st.sampled_from(["optimistic-quadratic", "sqrt"]),
        C=st.none() | positive,
        eta=st.floats(0, 10),
        touch=st.sampled_from(["log", "flat"]),
        width=st.sampled_from(["public", "union"]),
        **common,
    ),
)


@given(policies)
def test_text_names_a_policy_exactly(policy: OptimisticPolicy) -> None:
    text = to_text(policy)
    assert from_text(text) == policy
    assert canonical(text) == text


def test_one_text_for_each_policy() -> None:
    bounds = "ridge=1.0,delta=0.01,sigma=0.5,S=1.0,L=5.5"
    assert canonical("oful:L=5.50") == f"oful:{bounds},width=determinant"
    assert canonical("batched-oful:eta=0.10,C=1") == (
        f"batched-oful:{bounds},width=public,index=optimistic-quadratic,C=1.0,eta=0.1,touch=log"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("oful:C=2", "no parameter 'C': it takes ridge, delta, sigma, S, L, width"),
        ("rsoful:C=1,C=2", "two values of C"),
        ("rsoful-tr:C=much", "C is 'much': give a number"),
        ("batched-oful:index=1", "index is 1.0: choose one of"),
    ],
)
def test_texts_that_name_no_policy(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        from_text(text)

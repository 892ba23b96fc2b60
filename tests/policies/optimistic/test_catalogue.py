import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.policies.optimistic import (
    OFUL,
    OPTIMISTIC_CATALOGUE,
    RSOFUL,
    RSOFULTR,
    BatchedOFUL,
    OptimisticPolicy,
    optimistic_from_text,
    optimistic_to_text,
)
from lotor.policies.texts import canonical

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
    text = optimistic_to_text(policy)
    assert optimistic_from_text(text) == policy
    assert canonical(text) == text


@pytest.mark.parametrize(("name", "kind"), OPTIMISTIC_CATALOGUE.items())
def test_a_bare_name_means_the_defaults(name: str, kind: type[OptimisticPolicy]) -> None:
    assert optimistic_from_text(name) == kind()
    assert optimistic_to_text(kind()).partition(":")[0] == name


def test_one_text_for_each_policy() -> None:
    bounds = "ridge=1.0,delta=0.01,sigma=0.5,S=1.0,L=5.5"
    assert canonical("oful:L=5.50") == f"oful:{bounds},width=determinant"
    assert canonical("batched-oful:eta=0.10,C=1") == (
        f"batched-oful:{bounds},width=public,index=optimistic-quadratic,C=1.0,eta=0.1,touch=log"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("linucb", "no optimistic policy is called 'linucb': choose one of oful, rsoful"),
        ("oful:C=2", "no parameter 'C': it takes ridge, delta, sigma, S, L, width"),
        ("rsoful:C=1,C=2", "two values of C"),
        ("rsoful-tr:C=much", "C is a number"),
        ("batched-oful:index=1", "index is 1.0: choose one of"),
    ],
)
def test_texts_that_name_no_policy(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        optimistic_from_text(text)

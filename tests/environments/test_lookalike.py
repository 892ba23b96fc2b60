from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from lotor.core.errors import InputError
from lotor.environments import LOOKALIKES, lookalike

names = st.sampled_from(sorted(LOOKALIKES))


@given(names, st.integers(1, 300))
def test_means_are_k_and_descending(name: str, k: int) -> None:
    means = lookalike(name, k).means
    assert len(means) == k
    assert all(better > worse for better, worse in pairwise(means))


@given(names, st.integers(1, 100))
def test_fewer_arms_are_the_best_of_a_hundred(name: str, k: int) -> None:
    assert lookalike(name, k).means == lookalike(name, 100).means[:k]


@pytest.mark.parametrize("name", sorted(LOOKALIKES))
@pytest.mark.parametrize("k", [100, 400])
def test_means_follow_the_beta_law(name: str, k: int) -> None:
    a, b = LOOKALIKES[name]
    means = lookalike(name, k).means
    for rank, mean in enumerate(reversed(means), start=1):
        assert betainc(a, b, mean) == pytest.approx((rank - 0.5) / k, abs=1e-9)
    assert sum(means) / k == pytest.approx(a / (a + b), abs=1e-3)


def test_best_means_are_pinned() -> None:
    assert lookalike("movielens-like", 2).means == pytest.approx((0.4917, 0.4103), abs=1e-4)
    assert lookalike("jester-like", 2).means == pytest.approx((0.5809, 0.5166), abs=1e-4)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"'netflix-like'.*jester-like or movielens-like"):
        lookalike("netflix-like", 10)


@pytest.mark.parametrize("k", [0, -3, 2.5, "10"])
def test_a_number_of_arms_below_one_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="at least one arm"):
        lookalike("jester-like", k)

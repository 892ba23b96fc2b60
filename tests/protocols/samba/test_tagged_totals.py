"""Totals that owners split between two servers: exact, and refused when somebody altered them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, REWARD_ONE
from lotor.crypto.prf import new_key
from lotor.protocols.samba.tagged_totals import (
    SHARE_BYTES,
    P,
    TaggedShare,
    added,
    alpha_from,
    drawn_share,
    random_share,
    split,
    total,
)

ALPHA = alpha_from(new_key())

numbers = st.integers(0, P - 1)
shares = st.builds(TaggedShare, numbers, numbers)
pulls = st.integers(0, 1 << 20)


@st.composite
def owners(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(pulls)
    return draw(st.integers(0, n * REWARD_ONE)), n


def sums(parts: list[tuple[int, int]]) -> tuple[TaggedShare, TaggedShare, int]:
    """Both servers' sums, half of the owners with a key, and all pulls."""
    masks = [drawn_share(new_key()) if i % 2 else random_share() for i in range(len(parts))]
    rest = [split(s, n, ALPHA, mask) for (s, n), mask in zip(parts, masks, strict=True)]
    return added(masks), added(rest), sum(n for _, n in parts)


@given(st.lists(owners(), min_size=1, max_size=6))
def test_the_total_is_the_sum_of_all_owners(parts: list[tuple[int, int]]) -> None:
    first, second, n = sums(parts)
    assert total(first, second, ALPHA, n) == (sum(s for s, _ in parts), n)


def test_the_largest_total_fits() -> None:
    s = MAXIMAL_BUDGET * REWARD_ONE
    first, second, _ = sums([(s, MAXIMAL_BUDGET)])
    assert total(first, second, ALPHA, MAXIMAL_BUDGET) == (s, MAXIMAL_BUDGET)


@given(shares, st.booleans())
def test_a_changed_sum_is_caught(change: TaggedShare, by_the_second: bool) -> None:
    first, second, n = sums([(5 * REWARD_ONE, 9), (REWARD_ONE // 3, 1)])
    if change.number == change.tag == 0:
        return
    if by_the_second:
        second = added([second, change])
    else:
        first = added([first, change])
    with pytest.raises(IntegrityError, match="its tag does not fit: controller or comp"):
        total(first, second, ALPHA, n)


def test_a_miscounted_total_is_refused() -> None:
    first, second, n = sums([(5, 9)])
    with pytest.raises(ProtocolError, match="does not count 10 pulls: an owner miscounts"):
        total(first, second, ALPHA, n + 1)


def test_more_reward_than_pulls_allow_is_refused() -> None:
    first, second, n = sums([(9 * REWARD_ONE + 1, 9)])
    with pytest.raises(ProtocolError, match="an owner miscounts"):
        total(first, second, ALPHA, n)


def test_too_many_pulls_do_not_fit() -> None:
    with pytest.raises(ProtocolError, match="order at most 2147483647"):
        split(0, MAXIMAL_BUDGET + 1, ALPHA, random_share())
    with pytest.raises(ProtocolError, match="order at most 2147483647"):
        total(random_share(), random_share(), ALPHA, MAXIMAL_BUDGET + 1)


@given(shares)
def test_a_share_travels_in_a_fixed_width(share: TaggedShare) -> None:
    data = share.to_bytes()
    assert len(data) == SHARE_BYTES
    assert TaggedShare.from_bytes(data, "comp") == share


@pytest.mark.parametrize("data", [b"", bytes(31), bytes(33), b"\xff" * 32])
def test_what_is_no_share_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="comp sent something that is not a share"):
        TaggedShare.from_bytes(data, "comp")


def test_a_drawn_share_is_a_function_of_its_key() -> None:
    key, other = new_key(), new_key()
    assert drawn_share(key) == drawn_share(key) != drawn_share(other)


def test_a_share_is_not_shown() -> None:
    assert repr(random_share()) == "<TaggedShare>"

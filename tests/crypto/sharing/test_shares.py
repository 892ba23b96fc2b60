"""Whatever is done to shares is done to the value."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.sharing.table import (
    arrays,
    broadcastable,
    few_dims,
    numbers,
    shared,
    shared_bits,
    whole,
)
from lotor.crypto.sharing import Shared, SharedBits, Words


def each(act: Callable[..., Any], *pairs: tuple[Any, Any]) -> Any:
    """Both servers do the same to their shares."""
    first, second = (act(*(pair[server] for pair in pairs)) for server in (0, 1))
    return whole((first, second))


@pytest.mark.parametrize("act", [operator.add, operator.sub])
@given(broadcastable)
def test_two_shared_values(act: Callable[[Any, Any], Any], values: tuple[Words, Words]) -> None:
    x, y = values
    np.testing.assert_array_equal(each(act, shared(x, 1), shared(y, 2)), act(x, y))


@pytest.mark.parametrize("act", [operator.add, operator.sub, operator.mul])
@given(broadcastable)
def test_a_public_array(act: Callable[[Any, Any], Any], values: tuple[Words, Words]) -> None:
    """Also one of another shape, which both servers' shares then have."""
    x, public = values
    np.testing.assert_array_equal(each(lambda s: act(s, public), shared(x)), act(x, public))


@pytest.mark.parametrize("act", [operator.add, operator.sub, operator.mul])
@given(arrays(few_dims), st.one_of(numbers, st.integers(-(2**64), -1)))
def test_a_public_number(act: Callable[[Any, Any], Any], x: Words, number: int) -> None:
    expected = [act(int(value), number) % 2**64 for value in x.ravel()]
    assert each(lambda s: act(s, number), shared(x)).ravel().tolist() == expected


@given(arrays(few_dims), st.integers(0, 63))
def test_minus_and_shift(x: Words, bits: int) -> None:
    assert each(operator.neg, shared(x)).ravel().tolist() == [-int(v) % 2**64 for v in x.ravel()]
    shifted = each(lambda s: s << bits, shared(x))
    assert shifted.ravel().tolist() == [(int(v) << bits) % 2**64 for v in x.ravel()]


@given(arrays(few_dims), st.integers(-3, -1))
def test_sums_and_places(x: Words, axis: int) -> None:
    axis = max(axis, -x.ndim)
    expected = np.atleast_1d(x.sum(axis=axis))
    np.testing.assert_array_equal(each(lambda s: s.sum(axis), shared(x)), expected)
    np.testing.assert_array_equal(each(lambda s: s[..., ::-1], shared(x)), x[..., ::-1])
    np.testing.assert_array_equal(each(lambda s: s.reshape(-1, 1), shared(x)), x.reshape(-1, 1))
    both = each(lambda a, b: Shared.concatenate([a, b]), shared(x, 1), shared(x + x, 2))
    assert both.tolist() == [*x.ravel().tolist(), *(x + x).ravel().tolist()]


@given(broadcastable, st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64]))
def test_bits(values: tuple[Words, Words], dtype: type[np.unsignedinteger]) -> None:
    x, y = (value.astype(dtype) for value in values)
    pairs = shared_bits(x, 1), shared_bits(y, 2)
    np.testing.assert_array_equal(each(operator.xor, *pairs), x ^ y)
    np.testing.assert_array_equal(each(lambda s: s ^ y, pairs[0]), x ^ y)
    np.testing.assert_array_equal(each(lambda s: s & y, pairs[0]), x & y)
    np.testing.assert_array_equal(each(operator.invert, pairs[0]), ~x)
    np.testing.assert_array_equal(each(lambda s: s << 3, pairs[0]), x << x.dtype.type(3))
    np.testing.assert_array_equal(each(lambda s: s[..., 0], pairs[0]), x[..., 0])
    np.testing.assert_array_equal(
        each(lambda s: s.reduce(axis=0), pairs[0]), np.bitwise_xor.reduce(x, axis=0)
    )
    np.testing.assert_array_equal(
        each(lambda a: SharedBits.concatenate([a, ~a], axis=-1), pairs[0]),
        np.concatenate([x, ~x], axis=-1),
    )


def test_what_is_public_is_added_by_the_first_server_alone() -> None:
    x = np.array([7], np.uint64)
    for first, more, less in ((True, 12, 2), (False, 7, 7)):
        assert (Shared(x, first=first) + 5).share.tolist() == [more]
        assert (Shared(x, first=first) - 5).share.tolist() == [less]
        assert (SharedBits(x, first=first) ^ x).share.tolist() == [0 if first else 7]


def test_no_share_is_shown() -> None:
    share = np.array([123456789], np.uint64)
    for value in (Shared(share, first=True), SharedBits(share, first=True)):
        assert "123456789" not in repr(value)
        assert "(1,)" in repr(value)

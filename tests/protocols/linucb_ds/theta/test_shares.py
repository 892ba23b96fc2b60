"""Theta's two shares add up to it, and each of them alone is uniform."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ProtocolError
from lotor.protocols.linucb_ds.theta.shares import (
    SCORES,
    TOTAL,
    centred,
    drawn_share,
    from_bytes,
    other_share,
    to_bytes,
)

keys = st.binary(min_size=32, max_size=32)
moduli = st.sampled_from([1 << 59, 1 << 64, 1 << 192, (2**61 - 1) * (2**61 - 31)])


@given(keys, st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=9), moduli)
def test_shares_add_up_and_pass_the_wire(key: bytes, theta: list[int], modulus: int) -> None:
    drawn = drawn_share(key, SCORES, len(theta), modulus)
    other = other_share(theta, drawn, modulus)
    assert all(0 <= one < modulus for one in (*drawn, *other))
    read = from_bytes(to_bytes(other, modulus), len(theta), modulus, "owner")
    sums = [centred((a + b) % modulus, modulus) for a, b in zip(drawn, read, strict=True)]
    assert sums == theta


def test_each_purpose_and_each_key_has_shares_of_its_own() -> None:
    one, other = bytes(32), bytes([1]) * 32
    drawn = [
        tuple(drawn_share(key, purpose, 4, modulus))
        for key in (one, other)
        for purpose in (SCORES, TOTAL)
        for modulus in (1 << 64, 1 << 192)
    ]
    words = [number % (1 << 64) for share in drawn for number in share]
    # Two moduli of one purpose may see the same bits: a form uses one of them.
    assert len(set(drawn)) == len(drawn)
    assert max(Counter(words).values()) <= 2


def test_more_coordinates_leave_the_first_ones_as_they_are() -> None:
    key = bytes(range(32))
    few = drawn_share(key, TOTAL, 3, 1 << 192)
    assert drawn_share(key, TOTAL, 40, 1 << 192)[:3] == few


def test_a_known_answer() -> None:
    """A restarted holder, and a later version, must find the same shares."""
    assert drawn_share(bytes(32), SCORES, 2, 1 << 64) == [
        3351696686142423980,
        14416697335245430554,
    ]


@pytest.mark.parametrize(
    "data",
    [b"", bytes(23), bytes(25), bytes(16), (2**61).to_bytes(8, "little") * 3],
    ids=["nothing", "cut", "longer", "fewer", "too large"],
)
def test_other_bytes_are_refused_by_name(data: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"^owner sent something else than 3 shares of 8 bytes"):
        from_bytes(data, 3, 2**61 - 1, "owner")

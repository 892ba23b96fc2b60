"""Who has to go when too many have come, and who is next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.transport.crowd import Crowd, source_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::7", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_a_source_is_all_that_one_stranger_can_use_at_will(
    one: str, other: str, same: bool
) -> None:
    assert (source_of(one) == source_of(other)) is same


def join(crowd: Crowd[int], one: int, source: str, most: int) -> None:
    """As listeners do it."""
    while (victim := crowd.victim(source, most)) is not None:
        crowd.discard(victim)
    crowd.add(one, source)


@given(st.lists(st.sampled_from("abcde")), st.integers(1, 12))
def test_a_crowd_and_each_source_in_it_keep_within_bounds(sources: list[str], most: int) -> None:
    crowd: Crowd[int] = Crowd()
    here: dict[int, str] = {}
    for one, source in enumerate(sources):
        join(crowd, one, source, most)
        here[one] = source
        here = {other: here[other] for other in crowd}
        assert one in crowd
        assert len(crowd) <= most
        assert list(here.values()).count(source) <= max(1, most // 2)


@pytest.mark.parametrize("attackers", ["a", "abc"])
def test_strangers_elsewhere_do_not_push_anybody_out(attackers: str) -> None:
    crowd: Crowd[int] = Crowd()
    crowd.add(0, "genuine")
    for one in range(1, 2_000):
        join(crowd, one, attackers[one % len(attackers)], 8)
    assert 0 in crowd


def test_any_of_one_source_may_have_to_go() -> None:
    """By lot: a stranger at the same address cannot choose whom it pushes out."""
    crowd: Crowd[int] = Crowd()
    for one in range(8):
        crowd.add(one, "shared")
    assert {crowd.victim("shared", 16) for _ in range(2_000)} == set(range(8))


def test_any_may_have_to_go_where_all_sources_have_the_same() -> None:
    crowd: Crowd[int] = Crowd()
    for one in range(8):
        crowd.add(one, f"source {one}")
    assert crowd.victim("new", 9) is None
    assert {crowd.victim("new", 8) for _ in range(2_000)} == set(range(8))


def test_each_source_has_its_turn_however_many_came_from_another() -> None:
    crowd: Crowd[int] = Crowd()
    for one in range(1, 1_000):
        crowd.add(one, "crowded")
    crowd.add(0, "quiet")
    drawn = [crowd.draw() for _ in range(500)]
    assert 0 in drawn
    assert len(set(drawn)) == 500
    assert len(crowd) == 500

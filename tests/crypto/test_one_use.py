"""Each place takes one content."""

import pytest

from lotor.core.errors import CryptoError
from lotor.crypto.one_use import OneUse


def test_places_come_in_order_and_the_latest_may_be_repeated() -> None:
    uses = OneUse("round", "the key")
    for place in ((0, 1), (0, 2), (1, 0)):
        uses.take(place, b"a")
        uses.take(place, b"a")
    with pytest.raises(CryptoError, match=r"round 0\.2 comes after 1\.0"):
        uses.take((0, 2), b"a")


def test_another_content_is_refused_and_the_first_stays() -> None:
    uses = OneUse("round", "the key")
    uses.take((3,), b"a")
    for _ in range(2):
        with pytest.raises(CryptoError, match="give away the key"):
            uses.take((3,), b"b")
    uses.take((3,), b"a")


def test_nothing_is_shown() -> None:
    uses = OneUse("round", "the key")
    uses.take((1,), b"secret")
    assert repr(uses) == "<OneUse of each round>"
    with pytest.raises(CryptoError) as error:
        uses.take((1,), b"other")
    assert "secret" not in str(error.value)
    assert "other'" not in str(error.value)

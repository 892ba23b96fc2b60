import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import IntegrityError
from lotor.crypto.signing import place, trusting_identities

IDENTITIES = trusting_identities(["comp", "owner-1", "owner-2"])
PLACE = {"run": "r", "purpose": "AES key", "recipient": "owner-1"}


def test_a_signature_holds_for_its_place() -> None:
    signature = IDENTITIES["comp"].sign(b"data", **PLACE)
    IDENTITIES["owner-1"].verify(b"data", signature, sender="comp", **PLACE)


@pytest.mark.parametrize(
    "change",
    [{"run": "s"}, {"purpose": "terms"}, {"recipient": "owner-2"}, {"sender": "owner-2"}],
)
def test_a_signature_holds_nowhere_else(change: dict[str, str]) -> None:
    signature = IDENTITIES["comp"].sign(b"data", **PLACE)
    with pytest.raises(IntegrityError, match="not valid"):
        IDENTITIES["owner-1"].verify(b"data", signature, **{"sender": "comp", **PLACE, **change})


def test_altered_data_and_strangers_are_refused() -> None:
    signature = IDENTITIES["comp"].sign(b"data", **PLACE)
    with pytest.raises(IntegrityError):
        IDENTITIES["owner-1"].verify(b"Data", signature, sender="comp", **PLACE)
    with pytest.raises(IntegrityError, match="no verifying key of mallory"):
        IDENTITIES["owner-1"].verify(b"data", signature, sender="mallory", **PLACE)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_places_are_unambiguous(a: list[str], b: list[str]) -> None:
    assert (place(*a) == place(*b)) == (a == b)


def test_identities_show_their_name_only() -> None:
    assert repr(IDENTITIES["comp"]) == "<Identity of comp>"

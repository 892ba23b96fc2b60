"""Nobody speaks for another, and nobody says what is not safe to print."""

import unicodedata
from math import inf, isfinite, nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ProtocolError
from lotor.crypto.signing import trusting_identities
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import EVERYBODY
from lotor.runtime.daemon.frames import Status, decode, encode
from lotor.runtime.daemon.status import PURPOSE, STATES
from lotor.runtime.durable.journal import FAILED, RUNNING

IDENTITIES = trusting_identities(["controller", "lyon", "porto"])
LYON, PORTO = IDENTITIES["lyon"], IDENTITIES["porto"]


def signed(status: Status, by: str = "lyon") -> Status:
    """What a party with a key may sign, whatever it says."""
    blank = msgspec.structs.replace(status, signature=b"")
    signature = IDENTITIES[by].sign(
        msgspec.msgpack.encode(blank), run=status.run, purpose=PURPOSE, recipient=EVERYBODY
    )
    return msgspec.structs.replace(status, signature=signature)


@given(st.sampled_from(STATES), st.text(), st.integers(0, 2**63 - 1), st.floats(0, 9e10))
def test_what_is_said_is_believed_and_safe(state: str, text: str, t: int, after: float) -> None:
    status = statuses.make(LYON, "aa", state, text, t, after)
    assert status.time > after
    assert isfinite(status.time)
    assert not any(unicodedata.category(c).startswith("C") for c in status.text)
    received = decode(encode(status), "lyon")
    assert received == status
    statuses.check(PORTO, status)


CHANGES = st.sampled_from(
    [
        {"run": "bb"},
        {"seat": "controller"},
        {"time": 1.0},
        {"state": FAILED},
        {"text": "something else"},
        {"round": 8},
        {"since": 1.0},
        {"missing": {"porto": 1.0}},
        {"signature": bytes(64)},
        {"signature": b""},
    ]
)


@given(CHANGES)
def test_nothing_in_it_can_be_altered(changes: dict[str, object]) -> None:
    status = statuses.make(LYON, "aa", RUNNING, "", 7, 0.0)
    with pytest.raises(ProtocolError, match="the signature on the status of"):
        statuses.check(PORTO, msgspec.structs.replace(status, **changes))


def test_nobody_speaks_for_another() -> None:
    forged = signed(Status("aa", "controller", 1.0, FAILED, "", 1), by="lyon")
    with pytest.raises(ProtocolError, match="the signature on the status of controller"):
        statuses.check(PORTO, forged)


def test_a_stranger_is_not_heard() -> None:
    with pytest.raises(ProtocolError, match="no verifying key of graz"):
        statuses.check(PORTO, signed(Status("aa", "graz", 1.0, FAILED, "", 1)))


@pytest.mark.parametrize(
    "status",
    [
        Status("aa", "lyon", 1.0, "asleep", "", 1),
        Status("aa", "lyon", 1.0, "", "", 1),
        Status("aa", "lyon", 1.0, FAILED, "two\nlines", 1),
        Status("aa", "lyon", 1.0, FAILED, "\x1b[2J", 1),
        Status("aa", "lyon", 1.0, FAILED, "right\u202eleft", 1),
        Status("aa", "lyon", 1.0, FAILED, "a" * 1001, 1),
        Status("aa", "lyon", nan, FAILED, "", 1),
        Status("aa", "lyon", inf, FAILED, "", 1),
        Status("aa", "lyon", 1.0, FAILED, "", 1, since=inf),
        Status("aa", "lyon", 1.0, RUNNING, "", 1, missing={"porto": nan}),
        Status("aa", "lyon", 1.0, RUNNING, "", 1, missing={"por\nto": 1.0}),
    ],
    ids=[
        *("state", "no state", "line", "escape", "direction", "long", "nan", "for ever"),
        *("since", "missing since", "missing whom"),
    ],
)
def test_what_a_party_signs_must_still_be_fit_to_show(status: Status) -> None:
    with pytest.raises(
        ProtocolError,
        match=r"lyon sent a status that .* is not safe",
    ):
        statuses.check(PORTO, signed(status))


@pytest.mark.parametrize("t", [-1, 2**63])
def test_a_round_is_a_count(t: int) -> None:
    with pytest.raises(ProtocolError, match="not a frame"):
        decode(encode(signed(Status("aa", "lyon", 1.0, RUNNING, "", t))), "lyon")

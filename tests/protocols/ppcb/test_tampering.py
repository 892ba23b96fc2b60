"""Altered, exchanged, cut and foreign messages are refused by name, and nothing goes on.

What nobody can notice is the value of a share that has the right size and place: shares are random,
and between honest parties only the channel guards them. The last tests say which fields these are,
and that such a change ends in a clear error or a finished run.
"""

from collections.abc import Iterator
from functools import partial

import msgspec
import pytest

from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.protocols.ppcb import computing, messages, owner
from lotor.protocols.two_server import messages as two_server
from lotor.protocols.two_server import schedule
from lotor.protocols.two_server.checks import place_of
from mallory import Change, altered, cut, flipped, previous, replaced
from protocols.ppcb.attacks import (
    ARMS,
    PROTOCOL,
    another_kind,
    attack,
    refuses,
)
from protocols.ppcb.stage import play, traced_once

Way = tuple[type[Message], int, str, str, bytes]
# Each message and each way that it takes: which of its kind it is, who sends it, who reads it.
SET_UP: list[Way] = [
    (two_server.Agreed, 0, "receiver", "server-1", b""),
    (two_server.Agreed, 1, "actor", "server-0", b""),
    (two_server.Agreed, 2, "actor", "server-1", b""),
    (two_server.Agreed, 3, "server-0", "server-1", b""),
    (two_server.Agreed, 4, "server-1", "server-0", b""),
    (two_server.Agreed, 5, "owner-1", "server-1", b""),
    (two_server.PadKey, 0, "dealer", "server-0", b""),
    (two_server.PadKey, 1, "dealer", "server-1", b""),
    (two_server.BlindKey, 0, "server-0", "server-1", b""),
    (two_server.InputKey, 0, "receiver", "server-0", b""),
    (two_server.InputKey, 1, "owner-1", "server-0", b""),
]
# And of which step, circuit and round it is.
TOLD: list[Way] = [
    (two_server.More, 1, "server-1", "dealer", place_of(3)),
    (messages.Next, 2, "server-1", "owner-1", place_of(6)),
    (messages.Acted, 1, "actor", "server-0", place_of(2)),
    (messages.Due, 1, "server-0", "receiver", place_of(2)),
]
SHARED: list[Way] = [
    (two_server.Corrections, 1, "dealer", "server-1", place_of(2)),
    (messages.Features, 1, "owner-1", "server-1", place_of(2)),
    (messages.Features, 5, "owner-2", "server-1", place_of(2)),
    (two_server.Opened, 12, "server-1", "server-0", place_of(2)),
    (two_server.Opened, 21, "server-0", "server-1", place_of(2, 0, 4)),
    (two_server.Opened, 22, "server-0", "server-1", place_of(2, 1, 0)),
    (messages.OneHot, 2, "server-0", "actor", place_of(2)),
    (messages.OneHot, 3, "server-1", "actor", place_of(2)),
    (messages.Reward, 1, "receiver", "server-1", place_of(2)),
]
PLACED = TOLD + SHARED


def step_of(place: bytes) -> int:
    return int.from_bytes(place[:8], "big")


@pytest.fixture(scope="module", autouse=True)
def _traced() -> Iterator[None]:
    # Each step's contexts and pads are asked for when the step comes.
    with traced_once(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "MOST_AHEAD", 2)
        patch.setattr(owner, "TOGETHER", 1)
        patch.setattr(computing, "TOGETHER", 1)
        yield


def test_the_list_of_messages_is_complete() -> None:
    """Each kind, and each pair of parties that it passes between, but for the second owner."""
    passed: dict[type, list[tuple[str, str, bytes]]] = {}
    for seen in play(PROTOCOL, ARMS, budget=20).recorder.exchanges:
        place = getattr(seen.message, "place", b"")
        passed.setdefault(type(seen.message), []).append((seen.sender, seen.to, place))
    for kind, number, sender, reader, place in SET_UP + PLACED:
        assert passed[kind][number] == (sender, reader, place)
    ways = {(kind, *way[:2]) for kind, found in passed.items() for way in found}
    listed = {(kind, sender, reader) for kind, _, sender, reader, _ in SET_UP + PLACED}
    assert all("owner-2" in way for way in ways - listed)


@pytest.mark.parametrize(("kind", "after", "sender", "reader", "_place"), SET_UP + PLACED)
@pytest.mark.parametrize("change", [cut, another_kind], ids=["cut", "other kind"])
def test_what_is_no_such_message_names_its_sender(
    kind: type[Message], after: int, sender: str, reader: str, _place: bytes, change: Change
) -> None:
    complaint = f"^{reader} waits for {kind.__name__} from {sender}"
    refuses(complaint, reader, kind, change, after=after)


@pytest.mark.parametrize(("kind", "after", "sender", "reader", "_place"), SET_UP)
def test_other_terms_are_refused_before_anything_is_shared(
    kind: type[Message], after: int, sender: str, reader: str, _place: bytes
) -> None:
    for change in (altered("digest", flipped), replaced(digest=b"")):
        left = refuses(f"^{sender} keeps other terms", reader, kind, change, after=after)
        assert not left.parties[reader].sent(two_server.Opened)


@pytest.mark.parametrize(
    ("kind", "after", "sender", "reader", "_place"),
    [way for way in SET_UP if way[0] is not two_server.Agreed],
)
@pytest.mark.parametrize("size", [0, 31, 33])
def test_keys_of_another_size_are_refused(
    kind: type[Message], after: int, sender: str, reader: str, _place: bytes, size: int
) -> None:
    complaint = f"^{sender} sent a key of {size} bytes, not 32"
    refuses(complaint, reader, kind, replaced(key=bytes(size)), after=after)


@pytest.mark.parametrize(("kind", "after", "sender", "reader", "place"), PLACED)
def test_another_place_names_sender_and_step(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    """Another step, attempt, circuit or round, or none."""
    t = step_of(place)
    others = [flipped(place, position) for position in (7, 9, 11, 13)] + [b""]
    complaint = (
        f"^{sender} sent {kind.__name__} for another place than this party has reached in step {t}"
    )
    for change in (previous, *(replaced(place=other) for other in others)):
        assert refuses(complaint, reader, kind, change, after=after).acts <= 2


@pytest.mark.parametrize(("kind", "after", "sender", "reader", "place"), SHARED)
def test_another_size_names_sender_and_step(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    t = step_of(place)
    complaint = rf"^{sender} sent \d+ bytes of shares in step {t}, but \d+ are due"
    for change in (
        altered("shares", lambda data: data[:-1]),
        altered("shares", lambda data: data + data[:8]),
        replaced(shares=b""),
    ):
        refuses(complaint, reader, kind, change, after=after)


@pytest.mark.parametrize("after", [2, 3])
@pytest.mark.parametrize(
    "change",
    [
        *(altered("shares", partial(flipped, position=i)) for i in range(ARMS.k)),
        altered("shares", lambda data: bytes(byte | 0x80 for byte in data)),
        replaced(shares=b"\xff" * ARMS.k),
    ],
)
def test_an_altered_one_hot_pulls_nothing(change: Change, after: int) -> None:
    complaint = "^the servers' shares of step 2 are not those of one arm.*nothing was pulled"
    assert refuses(complaint, "actor", messages.OneHot, change, after=after).acts == 1


# What is not noticed by itself: values of the right size at the right place.
UNNOTICED: dict[type[Message], str] = {
    two_server.PadKey: "key",
    two_server.BlindKey: "key",
    two_server.InputKey: "key",
    two_server.Corrections: "shares",
    messages.Features: "shares",
    two_server.Opened: "shares",
    messages.Reward: "shares",
}


def test_every_field_is_checked_or_known_not_to_be() -> None:
    """Of one-hot shares it is checked that one arm comes out; two altered bytes can give one."""
    checked = {"place", "digest"}
    for kind in {way[0] for way in SET_UP + PLACED}:
        names = {field.name for field in msgspec.structs.fields(kind)} - checked
        known = {UNNOTICED[kind]} if kind in UNNOTICED else set()
        assert names == ({"shares"} if kind is messages.OneHot else known)


@pytest.mark.parametrize(
    ("kind", "after"), [way[:2] for way in SET_UP + SHARED if way[0] in UNNOTICED]
)
def test_altered_shares_end_in_a_clear_error_or_a_finished_run(
    kind: type[Message], after: int
) -> None:
    """Never a bare Python error, and no arm that does not exist."""
    field = UNNOTICED[kind]
    for change in (
        altered(field, flipped),
        altered(field, lambda data: data[:-1] + bytes([data[-1] ^ 0x81])),
        altered(field, lambda data: b"\xff" * len(data)),
    ):
        try:
            outcome = attack(kind, change, after=after, budget=3)
        except LotorError:
            continue
        assert len(outcome.arms) == 3
        assert set(outcome.arms) <= set(range(ARMS.k))


@pytest.mark.parametrize(("kind", "after"), [way[:2] for way in SET_UP + PLACED[1:]])
def test_any_altered_byte_ends_in_a_clear_error_or_a_finished_run(
    kind: type[Message], after: int
) -> None:
    # Contexts are shared four steps ahead.
    budget = {messages.Next: 6, messages.Features: 4}.get(kind, 2)
    errors = 0
    for position in (0, 5, 22, 40, 61):

        def change(message: Message, _: object, position: int = position) -> bytes:
            payload = bytearray(msgspec.msgpack.encode(message))
            payload[position % len(payload)] ^= 0x80 >> position % 8
            return bytes(payload)

        try:
            attack(kind, change, after=after, budget=budget)
        except LotorError:
            errors += 1
    assert errors

"""Altered, exchanged and cut messages are refused by the sender's name, and nothing goes on."""

import pytest

from lotor.core.effects import Message
from lotor.core.errors import LotorError, ProtocolError
from lotor.protocols.two_server import messages, schedule
from lotor.protocols.two_server.checks import place_of
from mallory import Change, Mallory, altered, cut, flipped, previous, replaced
from protocols.two_server.toy import COST, Amounts, Leader, parties_of, play

ROWS = [[3, 9, 4, 7], [2, 2, 2, 5], [0, 8, 1, 1], [6, 0, 0, 9], [1, 1, 1, 0]]

Way = tuple[type[Message], int, str, str, bytes]
# Each message and each way that it takes: which of its kind it is, who sends it, who reads it, and
# the place that it belongs to.
SET_UP: list[Way] = [
    (messages.Agreed, 0, "source", "right", b""),
    (messages.Agreed, 1, "left", "right", b""),
    (messages.Agreed, 2, "right", "left", b""),
    (messages.Agreed, 3, "reader", "left", b""),
    (messages.Agreed, 4, "reader", "right", b""),
    (messages.PadKey, 0, "maker", "left", b""),
    (messages.PadKey, 1, "maker", "right", b""),
    (messages.BlindKey, 0, "left", "right", b""),
    (messages.InputKey, 0, "source", "left", b""),
]
TOLD: list[Way] = [(messages.More, 1, "right", "maker", place_of(3))]
SHARED: list[Way] = [
    (messages.Corrections, 1, "maker", "right", place_of(2)),
    (messages.Opened, 11, "left", "right", place_of(2)),
    (messages.Opened, 19, "left", "right", place_of(2, 1)),
    (messages.Opened, 10, "right", "left", place_of(2)),
    (Amounts, 2, "source", "right", place_of(2)),
    (Amounts, 3, "source", "right", place_of(2, COST)),
    (Leader, 2, "right", "reader", place_of(2)),
    (Leader, 3, "left", "reader", place_of(2)),
]
FIELDS = ("kind", "after", "sender", "reader", "place")


@pytest.fixture(autouse=True)
def _each_step_is_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "MOST_AHEAD", 2)


def attack(kind: type[Message], change: Change, after: int) -> None:
    play(parties_of(ROWS), Mallory(kind, change, after))


def refuses(complaint: str, reader: str, kind: type[Message], change: Change, after: int) -> None:
    with pytest.raises(ProtocolError, match=complaint) as error:
        attack(kind, change, after)
    assert error.value.__notes__ == [f"(raised at {reader})"]


def test_the_list_of_messages_is_complete() -> None:
    passed: dict[type, list[tuple[str, str, bytes]]] = {}
    for seen in play(parties_of(ROWS)).recorder.exchanges:
        place = getattr(seen.message, "place", b"")
        passed.setdefault(type(seen.message), []).append((seen.sender, seen.to, place))
    for kind, number, *way in SET_UP + TOLD + SHARED:
        assert passed[kind][number] == tuple(way)
    ways = {(kind, *way[:2]) for kind, found in passed.items() for way in found}
    assert ways == {(kind, sender, to) for kind, _, sender, to, _ in SET_UP + TOLD + SHARED}


@pytest.mark.parametrize(FIELDS, SET_UP + TOLD + SHARED)
def test_a_cut_message_names_its_sender(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    refuses(f"^{reader} waits for {kind.__name__} from {sender}", reader, kind, cut, after)


@pytest.mark.parametrize(FIELDS, SET_UP)
def test_other_terms_are_refused(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    for change in (altered("digest", flipped), replaced(digest=b"")):
        refuses(f"^{sender} keeps other terms", reader, kind, change, after)


@pytest.mark.parametrize(FIELDS, [way for way in SET_UP if way[0] is not messages.Agreed])
@pytest.mark.parametrize("size", [0, 31, 33])
def test_keys_of_another_size_are_refused(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes, size: int
) -> None:
    complaint = f"^{sender} sent a key of {size} bytes, not 32"
    refuses(complaint, reader, kind, replaced(key=bytes(size)), after)


@pytest.mark.parametrize(FIELDS, TOLD + SHARED)
def test_another_place_names_sender_and_step(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    """Another step, attempt, circuit or round, or none, or a message that came before."""
    t = int.from_bytes(place[:8], "big")
    others = [flipped(place, position) for position in (7, 9, 11, 13)] + [b""]
    complaint = (
        f"^{sender} sent {kind.__name__} for another place than this party has reached in step {t}"
    )
    for change in (previous, *(replaced(place=other) for other in others)):
        refuses(complaint, reader, kind, change, after)


@pytest.mark.parametrize(FIELDS, SHARED)
def test_another_size_names_sender_and_step(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    t = int.from_bytes(place[:8], "big")
    complaint = rf"^{sender} sent \d+ bytes of shares in step {t}, but \d+ are due"
    for change in (
        altered("shares", lambda data: data[:-1]),
        altered("shares", lambda data: data + data[:8]),
        replaced(shares=b""),
    ):
        refuses(complaint, reader, kind, change, after)


@pytest.mark.parametrize(FIELDS, SET_UP + TOLD + SHARED)
def test_any_altered_byte_ends_in_a_clear_error_or_a_finished_run(
    kind: type[Message], after: int, sender: str, reader: str, place: bytes
) -> None:
    """Shares are random: nobody can tell that one of the right size was altered."""
    for name in ("digest", "place", "key", "shares"):
        if name not in kind.__struct_fields__:
            continue
        for change in (flipped, lambda data: data[:-1] + bytes([data[-1] ^ 0x81])):
            try:
                attack(kind, altered(name, change), after)
            except LotorError:
                continue
            assert name in ("key", "shares")

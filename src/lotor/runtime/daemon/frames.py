"""What daemons tell each other about runs, besides the runs' own messages."""

from typing import TypeAlias

import msgspec

from lotor.core.errors import ProtocolError
from lotor.protocols.form import Contribution
from lotor.runtime.durable.frames import Ack, Count, Data, Join, RunFrame

WIRE_VERSION = 1


class Open(RunFrame, frozen=True, tag=4):
    """An announcement, passed on to whoever takes part."""

    announcement: bytes
    signature: bytes


class Status(RunFrame, frozen=True, tag=5):
    """What one party says about a run, signed by it and passed on by the others.

    Of two by the same party, the one with the later `time` counts.
    """

    seat: str
    time: float
    state: str
    text: str
    round: Count
    signature: bytes = b""


class Ask(RunFrame, frozen=True, tag=6):
    """Who is there? (`run` is empty.)"""


class Card(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A party's certificate and what it brings."""

    certificate: bytes
    contribution: Contribution


class Roster(RunFrame, frozen=True, tag=7):
    """The answer to `Ask`: who is connected."""

    cards: list[Card]


AnyFrame: TypeAlias = Join | Data | Ack | Open | Status | Ask | Roster

encode = msgspec.msgpack.Encoder().encode
_decoder: msgspec.msgpack.Decoder[AnyFrame] = msgspec.msgpack.Decoder(AnyFrame)


def decode(payload: bytes, sender: str) -> AnyFrame:
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeError):
        raise ProtocolError(
            f"{sender} sent {len(payload)} bytes that are no frame: it is not what it says, or "
            "another version"
        ) from None


def read_card(data: bytes, sender: str) -> Card:
    try:
        return msgspec.msgpack.decode(data, type=Card)
    except (msgspec.DecodeError, UnicodeError):
        raise ProtocolError(f"{sender} introduced itself with what is no card") from None

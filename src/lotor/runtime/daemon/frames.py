"""The frames by which daemons talk about runs; durable/frames.py has those within a run."""

from typing import TypeAlias

import msgspec

from lotor.core.effects import Exclusion
from lotor.core.errors import ProtocolError
from lotor.core.unreadable import UNREADABLE
from lotor.protocols.form import Contribution
from lotor.runtime.durable.frames import Ack, Count, Data, Join, RunFrame

WIRE_VERSION = 4


class Open(RunFrame, frozen=True, tag=4):
    """An announcement, which each party passes on to its peers in the run."""

    announcement: bytes
    signature: bytes


class Status(RunFrame, frozen=True, tag=5):
    """How a run stands at one party, signed by it and passed on by the others.

    Of two by the same party, the one with the later `time` counts. `since` is when its state
    began, and `missing` has the seats that it waits for, each with the time when it went away.
    `held` is the round that waits there to begin (0 if none does), and `opens` when it may, where
    that is known.
    """

    seat: str
    time: float
    state: str
    text: str
    round: Count
    signature: bytes = b""
    since: float = 0.0
    missing: dict[str, float] = msgspec.field(default_factory=dict)
    held: Count = 0
    opens: float = 0.0


class Grant(RunFrame, frozen=True, tag=8):
    """So many rounds of a run on demand may have begun, signed by its opener and passed on.

    The number only grows: of two, the higher one counts.
    """

    rounds: Count
    signature: bytes


class ExclusionAgreed(RunFrame, frozen=True, tag=9):
    """The party in `seat` agrees to go on without `party`, which is away since then; passed on."""

    seat: str
    party: str
    since: float
    signature: bytes


class PartiesExcluded(RunFrame, frozen=True, tag=10):
    """Parties have left a run for good; all others have signed it."""

    exclusion: Exclusion


class Ask(RunFrame, frozen=True, tag=6):
    """A request for the receiver's Roster; `run` is empty."""


class Card(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A party's certificate and what it brings."""

    certificate: bytes
    contribution: Contribution


class Roster(RunFrame, frozen=True, tag=7):
    """The answer to `Ask`: the sender's card, and those of its peers that are connected."""

    cards: list[Card]


Told: TypeAlias = Status | Grant | ExclusionAgreed | PartiesExcluded
"""What a party says to all others, which may come by way of some of them."""

AnyFrame: TypeAlias = Join | Data | Ack | Open | Ask | Roster | Told

encode = msgspec.msgpack.Encoder().encode
_decoder: msgspec.msgpack.Decoder[AnyFrame] = msgspec.msgpack.Decoder(AnyFrame)


def decode(payload: bytes, sender: str) -> AnyFrame:
    try:
        return _decoder.decode(payload)
    except UNREADABLE:
        raise ProtocolError(
            f"{sender} sent {len(payload)} bytes that are not a frame: it runs another program, or "
            "another version of lotor; install the same version on both sides"
        ) from None


def read_card(data: bytes, sender: str) -> Card:
    try:
        return msgspec.msgpack.decode(data, type=Card)
    except UNREADABLE:
        raise ProtocolError(
            f"the Hello of {sender} has a card that cannot be read: it runs another program, or "
            "another version of lotor; install the same version on both sides"
        ) from None

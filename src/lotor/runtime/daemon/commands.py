"""The commands of a party's operator: written to the journal by one process, done by another."""

from typing import TypeAlias

import msgspec

from lotor.core.errors import JournalError
from lotor.core.unreadable import UNREADABLE
from lotor.runtime.daemon.pace import Pace


class Command(msgspec.Struct, frozen=True, tag=True):
    """Base of all commands."""


class StartRun(Command, frozen=True):
    """Start a new run, or one that `continues` another; `members` lists names by role."""

    protocol: str
    budget: int
    options: dict[str, str | int]
    members: dict[str, list[str]]
    pace: Pace = Pace()
    continues: str = ""


class Approve(Command, frozen=True):
    """Let a waiting run start."""


class Refuse(Command, frozen=True):
    """Do not take part; the run ends for all."""

    reason: str


class Stop(Command, frozen=True):
    """End the run on all sides."""

    reason: str


class Resolve(Command, frozen=True):
    """Settle a question in doubt: with its answer, or as lost, where there will never be one.

    With neither, the question was never asked, so it is asked (again).
    """

    decision: str
    reward: float | None = None
    lost: bool = False
    features: tuple[float, ...] | None = None

    @property
    def again(self) -> bool:
        return self.reward is None and self.features is None and not self.lost

    def __repr__(self) -> str:
        return f"<Resolve {self.decision}>"


class NextRounds(Command, frozen=True):
    """Let so many more rounds begin, in a run that has them on demand."""

    count: int


class Pause(Command, frozen=True):
    """Begin no more rounds until `Resume`."""


class Resume(Command, frozen=True):
    """Go on with a run that was paused here."""


class Prune(Command, frozen=True):
    """Remove a run that is over from the journal."""


class Exclude(Command, frozen=True):
    """Agree to go on without a party that is away since then."""

    party: str
    since: float


AnyCommand: TypeAlias = (
    StartRun | Approve | Refuse | Stop | Resolve | NextRounds | Pause | Resume | Prune | Exclude
)


_decoder: msgspec.msgpack.Decoder[AnyCommand] = msgspec.msgpack.Decoder(AnyCommand)


def to_bytes(command: Command) -> bytes:
    return msgspec.msgpack.encode(command)


def from_bytes(data: bytes) -> AnyCommand:
    try:
        return _decoder.decode(data)
    except UNREADABLE:
        raise JournalError(
            "a command in the journal was written by another version of lotor and is dropped: give "
            "it again with the version that serves this party"
        ) from None

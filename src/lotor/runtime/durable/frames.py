"""The frames between two hosts of one run: numbered messages, and acknowledgements."""

from typing import Annotated, TypeAlias

import msgspec

# SQLite holds no larger integer.
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class RunFrame(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Base of all frames: each belongs to a run."""

    run: str


class Join(RunFrame, frozen=True, tag=1):
    """The first frame of a run on each new connection.

    `received` is the last message that the sender has, `ack` the last that is durable there, and
    `commits` how often its journal was written; `known` is the highest `commits` that it has seen
    of the receiver. `incarnation` counts its restarts: a restarted party may seal anew what it
    sends again.
    """

    incarnation: Count
    commits: Count
    known: Count
    received: Count
    ack: Count


class Data(RunFrame, frozen=True, tag=2):
    """Message number `seq` of the sender to the receiver in this run."""

    seq: Count
    ack: Count
    commits: Count
    payload: bytes


class Ack(RunFrame, frozen=True, tag=3):
    """An acknowledgement on its own, where no message goes that way."""

    ack: Count
    commits: Count

"""What a party writes down at a checkpoint, and how it is read again."""

from typing import TypeVar

import msgspec

from lotor.core.errors import FormatError, InputError
from lotor.core.unreadable import UNREADABLE


class Memory(msgspec.Struct, kw_only=True):
    """All that a party needs to go on from a boundary, its keys among them.

    A party draws its keys when it is created, before its first checkpoint: from there on, what it
    does depends only on the messages and answers that it gets. `t` counts rounds.
    """

    party: str
    run: str
    t: int = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.party} in run {self.run} at round {self.t}>"

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self)


M = TypeVar("M", bound=Memory)


def restored(kind: type[M], snapshot: bytes, party: str, run: str) -> M:
    """The memory in a snapshot, if it is this party's and of this run."""
    try:
        memory = msgspec.msgpack.decode(snapshot, type=kind)
    except UNREADABLE:
        raise FormatError(
            f"this is not a snapshot of a {kind.__name__}: it was cut, or another version wrote it"
        ) from None
    if (memory.party, memory.run) != (party, run):
        raise InputError(
            f"this snapshot is of {memory.party} in run {memory.run}, not of {party} in run "
            f"{run}: restore each party from its own"
        )
    return memory

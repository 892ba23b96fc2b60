"""What a party may ask of the runtime: a party is a generator of these and has no other IO.

    bits = yield Receive("controller", PullingBits)

`Receive` hands back the message and `Pull` the reward (if any), the others nothing.
"""

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")


class Message(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Base of all messages. A subclass's `tag` names protocol, wire version and kind.

    Fields whose width could tell something are `bytes` of a width fixed for the run.
    """


class Decision(msgspec.Struct, frozen=True):
    """One choice of an arm. `id` names it for ever, so that a repeated pull can be recognised."""

    run: str
    round: int
    arm: int
    id: str
    context: tuple[float, ...] | None = None

    @classmethod
    def named(cls, run: str, t: int, arm: int) -> "Decision":
        """The choice of an arm in round t, with its name."""
        return cls(run, t, arm, f"{run}/{arm}/{t}")


class Send(msgspec.Struct, frozen=True):
    """Deliver `message` to the party named `to`."""

    to: str
    message: Message


class Receive(msgspec.Struct, frozen=True):
    """Wait for the next message of `sender`, which must be of this `kind`."""

    sender: str
    kind: type[Message]


class Pull(msgspec.Struct, frozen=True):
    """Ask the environment for the reward of a decision.

    None: nothing is pulled here in this round. That must look the same from outside, so the
    runtime writes down as much and waits as long; what it hands back is None.
    """

    decision: Decision | None


class Decided(msgspec.Struct, frozen=True):
    """Which arm was chosen, where nothing is asked for its reward: for whoever watches."""

    decision: Decision


class Checkpoint(msgspec.Struct, frozen=True):
    """The boundary before a round: `snapshot()` writes down all that is needed to go on from here.

    A party yields one first of all, before anything else.
    """

    snapshot: Callable[[], bytes]
    round: int = 0


Effect: TypeAlias = Send | Receive | Pull | Decided | Checkpoint

# What is sent in depends on the effect that was yielded, which no type of Python can say.
Steps: TypeAlias = Generator[Effect, Any, T]

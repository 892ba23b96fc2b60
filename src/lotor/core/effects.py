"""What a party may ask of the runtime: a party is a generator of these and has no other IO.

    bits = yield Receive("controller", PullingBits)

`Receive` hands back the message (or an `Exclusion`), `Pull` the reward (if any), `Observe` features
and `Collect` outcomes, the others nothing.
"""

from collections.abc import Callable, Generator, Mapping
from itertools import takewhile
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

HIDDEN: Final = -1
"""The arm of a decision, for a party that must not know it."""


class Message(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Base of all messages. A subclass's `tag` names protocol, wire version and kind.

    Fields whose width could tell something are `bytes` of a width fixed for the run.
    """


class Decision(msgspec.Struct, frozen=True):
    """One choice of an arm. `id` names it for ever, so that a repeated pull can be recognised.

    `arm` is HIDDEN (-1) for a party that brings something to a decision without knowing the arm:
    its reward, or features of its context.
    """

    run: str
    round: int
    arm: int
    id: str
    context: tuple[float, ...] | None = None

    @classmethod
    def named(cls, run: str, t: int, arm: int) -> "Decision":
        """The choice of an arm in round t, with its name."""
        return cls(run, t, arm, f"{run}/{arm}/{t}")

    @classmethod
    def of_step(cls, run: str, t: int, arm: int) -> "Decision":
        """The choice of step t, under a name that does not tell the arm: see `hidden`."""
        return cls(run, t, arm, f"{run}/{t}")

    @classmethod
    def hidden(cls, run: str, t: int) -> "Decision":
        """The choice of step t for a party that must not know it; its `id` is that of `of_step`."""
        return cls(run, t, HIDDEN, f"{run}/{t}")


class Send(msgspec.Struct, frozen=True):
    """Deliver `message` to the party named `to`."""

    to: str
    message: Message


class Receive(msgspec.Struct, frozen=True):
    """Wait for the next message of `sender`: of this `kind`, or of the `other` one if there is one.

    `may_leave`: where the sender can be lost for good, and the others have agreed to go on without
    it, an `Exclusion` is handed back in the place of its message.
    """

    sender: str
    kind: type[Message]
    other: type[Message] | None = None
    may_leave: bool = False

    @property
    def awaited(self) -> str:
        """What is waited for, in words."""
        kinds = (self.kind, self.other)
        return " or ".join(kind.__name__ for kind in kinds if kind is not None)


class Exclusion(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Parties that have left a run for good: since when each was away, and who agreed to it.

    `agreements` has the signatures of those that go on, by the party that left. What an excluded
    party has not been heard of by then will never be taken.
    """

    away: dict[str, float]
    agreements: dict[str, dict[str, bytes]]


class Pull(msgspec.Struct, frozen=True):
    """Ask the environment for the reward of a decision.

    None: nothing is pulled here in this round. That must look the same from outside, so the
    runtime writes as much to the journal, waits as long, and hands back None.

    `masked`: what is sent next depends on the reward, under a mask that must never cover another
    one. The reward is then on the disk before the party goes on, even if the world could be asked
    for it again. Peers, who see how often a journal is written, do not see this.
    """

    decision: Decision | None
    masked: bool = False


class Issue(msgspec.Struct, frozen=True):
    """Let a decision be carried out here without waiting for its reward; see `Collect`.

    None: nothing is decided here in this round. That must look the same from outside.
    """

    decision: Decision | None


class Expect(msgspec.Struct, frozen=True):
    """Say that a decision's reward will be pulled here later: its outcome may be told from now on.

    Nothing is waited for, and where nobody tells outcomes, nothing is done.
    """

    decision: Decision


class KnownOutcome(msgspec.Struct, frozen=True, array_like=True):
    """What a decision of a round has paid; None if nobody will ever know."""

    round: int
    reward: float | None

    def __repr__(self) -> str:
        return f"<KnownOutcome of round {self.round}>"


class Collect(msgspec.Struct, frozen=True):
    """Ask, before round `t`, for the outcomes of issued decisions that have come since last time.

    `waiting` are the decisions without an outcome, by round. Those of round `due` and earlier are
    waited for; the `last` time all are, for so many seconds (`within`; None: for ever), and what
    has not come by then never counts. Outcomes are handed back in the order of their rounds. Which
    ones they are is on the disk before the party goes on, also where there are none: what leaves
    next depends on it, and nobody must see that something came.
    """

    waiting: Mapping[int, Decision]
    t: int
    due: int = 0
    last: bool = False
    within: float | None = None

    @property
    def awaited(self) -> tuple[Decision, ...]:
        """The decisions whose outcomes are waited for; rounds are in their order."""
        found = takewhile(lambda t: self.last or t <= self.due, self.waiting)
        return tuple(self.waiting[t] for t in found)


class Act(msgspec.Struct, frozen=True):
    """Carry out a decision here; its reward goes to another party, which pulls it as hidden."""

    decision: Decision


class Observe(msgspec.Struct, frozen=True):
    """Ask for this party's own features of the context of a hidden decision.

    They are the columns lo..hi-1 of the whole context, a tuple of hi - lo numbers, and as a vector
    no longer than `length`. A party's own function returns just these columns.
    """

    decision: Decision
    columns: tuple[int, int]
    length: float = 1.0


class Once(msgspec.Struct, frozen=True):
    """The only value that may ever leave at this point, since a second one would break its mask.

    The runtime writes down which one it is, on the disk, before the party goes on. A party that is
    rebuilt comes to this point again: the same bytes go on, and others end the run. Everything that
    the world has answered before is then on the disk, too. Yield it just before the `Send`, in
    every round, with the value as it is before any encryption that differs each time.
    """

    value: bytes

    def __repr__(self) -> str:
        return f"<Once of {len(self.value)} bytes>"


class Decided(msgspec.Struct, frozen=True):
    """Tell observers which arm was chosen, where no environment is asked for its reward."""

    decision: Decision


class Checkpoint(msgspec.Struct, frozen=True):
    """The boundary before a round: `snapshot()` writes down all that is needed to go on from here.

    A party yields a checkpoint before any other effect. The runtime may skip one, since it can
    rebuild the party from an older one; a `durable` one is on the disk before the party goes on.
    """

    snapshot: Callable[[], bytes]
    round: int = 0
    durable: bool = False


class BeginRound(msgspec.Struct, frozen=True):
    """Begin round `t`, as soon as it may: a run can have its rounds only when they are needed.

    A party yields it before anything of round `t` that depends on what has happened until then,
    and when nobody needs anything more of it for the rounds before: the wait may take months. A
    party that is rebuilt comes to it again, and does not wait for what had begun.
    """

    t: int


Effect: TypeAlias = (
    Send
    | Receive
    | Pull
    | Issue
    | Collect
    | Expect
    | Act
    | Observe
    | Once
    | Decided
    | Checkpoint
    | BeginRound
)

# The value sent in depends on the effect that was yielded; Python's types cannot express that.
Steps: TypeAlias = Generator[Effect, Any, T]

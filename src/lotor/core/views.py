"""What parties of a run have seen: their messages, and what they asked of the world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lotor.core.effects import Decision, Message


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message as it passed, `at` so many seconds after the recorder began."""

    sender: str
    to: str
    message: Message
    payload: bytes
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Passing:
    """What the network sees of a message: who sends how much to whom, and when."""

    sender: str
    to: str
    size: int
    at: float


@dataclass(frozen=True, slots=True)
class View:
    """All that some parties of a run have seen together, for attacks on it.

    `seats` are these parties; with none of them it is the view of the network, which has only
    `passed`. `order` holds the public terms. `exchanges` are what they sent and received, `pulls`
    what they asked of the world with its answers, and `parties` what they are in the end, with
    all the keys that they hold.
    """

    seats: tuple[str, ...]
    order: bytes
    passed: Sequence[Passing]
    exchanges: Sequence[Exchange] = ()
    pulls: Sequence[tuple[Decision, float]] = ()
    parties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened in a run: what attacks guess, and are measured against.

    `arms` and `rewards` are those of rounds 1 to N. `environment` is the world, `parties` are all
    of the run, and `features` what feature parties brought.
    """

    arms: Sequence[int]
    rewards: Sequence[float]
    environment: object
    parties: Mapping[str, object] = field(default_factory=dict)
    features: Sequence[tuple[str, Decision, tuple[float, ...]]] = ()

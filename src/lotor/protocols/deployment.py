"""What a protocol tells the daemons: how its parties run as processes of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol as Interface

import msgspec

from lotor.crypto.signing import Identity
from lotor.protocols.party import Party
from lotor.protocols.store import MemoryStore, Store


class Offer(msgspec.Struct, frozen=True, array_like=True):
    """What a party says that it brings: arms, with rewards from low to high, or features."""

    arms: int = 0
    low: float = 0.0
    high: float = 1.0
    features: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A party that is to take part, by the name in its certificate."""

    name: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class Plan:
    """What is public about an ordered run.

    `seats` gives each seat at the table its role, and `links` whom each seat talks to. `k` is None
    where an order does not say how many arms there are. `privacy` is how much the arms of the whole
    run tell at most: math.inf where there is no bound, None where the protocol does not account it.
    """

    policy: str
    budget: int
    k: int | None
    seats: Mapping[str, str]
    links: Mapping[str, Sequence[str]]
    owners: int | None = None
    privacy: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a party sits in a run: all that it needs to be built, or built again.

    `brings` says what it has of "pull" (it can be asked for rewards), "act" (it carries arms out),
    "features" and "model"; `data` is that model, whatever it is: the protocol looks at it. In
    `store` it finds again what its snapshots name. It may compute with so many `workers`, where its
    work can be shared out.
    """

    run: str
    seat: str
    order: bytes = field(repr=False)
    identity: Identity
    offer: Offer
    trial_seed: int | None = field(default=None, repr=False)
    brings: frozenset[str] = frozenset({"pull"})
    data: object = field(default=None, repr=False)
    store: Store = field(default_factory=MemoryStore)
    workers: int = 1


class Deployment(Interface):
    """One protocol's parties, apart. An order is its own encoding of what is to be done."""

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def wire(self) -> str:
        """Name and version of its messages and snapshots: an unfinished run needs the same."""

    @property
    def opener(self) -> str:
        """The seat, and role, that orders runs and learns the result."""

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        """Who sits where, of the members listed by role; refuses too few or too many."""

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,
    ) -> tuple[bytes, Party]:
        """Order a run: the order, and the opener's own party."""

    def plan(self, order: bytes) -> Plan:
        """Read an order; refuses one that no run can fulfil."""

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        """Build the party of a seat, or rebuild it from its snapshot.

        An InputError says, to all parties, why this one cannot take part.
        """

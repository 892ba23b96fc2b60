"""A part of a run in which the same owners bring arms; when some are lost for good, another begins.

The round in which they were lost begins anew without their arms. Circuits, transfers, labels, pads
and places of the new era are others: what was sent for the void round stays as it is. Arms keep
their numbers, and so their draws.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

import msgspec

from lotor.core.effects import Exclusion, Message, Receive, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.prf import derive_key
from lotor.crypto.signing import Identity
from lotor.protocols.exclusion import check_exclusion
from lotor.protocols.garbled.schedule import BatchSize
from lotor.protocols.samba.shared.messages import OwnersLeft
from lotor.protocols.samba.shared.schedule import size_of
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.wire import place_of

M = TypeVar("M", bound=Message)
SERVERS_AND_CUSTOMER = ("customer", "controller", "comp")


class Loss(msgspec.Struct, frozen=True, array_like=True):
    """Owners that left together, from round t on. `size` is how circuits are garbled since."""

    owners: list[str]
    t: int
    size: BatchSize


class Era:
    """What is public about the time after these losses."""

    def __init__(self, terms: SambaSharedTerms, losses: Sequence[Loss] = ()) -> None:
        self.terms = terms
        self.number = len(losses)
        gone = {owner for loss in losses for owner in loss.owners}
        self.owners = {owner: held for owner, held in terms.owners.items() if owner not in gone}
        self.k = sum(self.owners.values())
        self.first = losses[-1].t if losses else terms.first
        self.turns = (terms.last + 1 - self.first) * terms.iterations
        self.argmaxes = self.turns + (terms.argmaxes - terms.turns)
        self.size = losses[-1].size if losses else BatchSize(terms.batch, terms.gates)
        self.name = "; ".join(
            f"without {', '.join(loss.owners)} from round {loss.t}" for loss in losses
        )

    def __repr__(self) -> str:
        return f"<Era {self.number} of {', '.join(self.owners)} from round {self.first}>"

    @property
    def transfers(self) -> str:
        """What base transfers and labels are bound to."""
        return f"{self.terms.run} {self.name}" if self.number else self.terms.run

    @property
    def numbers(self) -> list[int]:
        """The numbers that its arms have in the run."""
        own = self.terms.numbers()
        return [number for owner in self.owners for number in own[owner]]

    def arms(self) -> dict[str, slice]:
        """Which places among its arms those of each owner have."""
        ends = list(accumulate(self.owners.values()))
        return dict(zip(self.owners, map(slice, [0, *ends[:-1]], ends), strict=True))

    def key(self, shared: bytes) -> bytes:
        """The key for pads and escrowed shares of this era, from an owner's key with Comp."""
        return derive_key(shared, self.name) if self.number else shared

    def keys(self, shared: Mapping[str, bytes]) -> dict[str, bytes]:
        """The same for all owners that are left."""
        return {owner: self.key(shared[owner]) for owner in self.owners}

    def place(self, t: int, l: int) -> bytes:
        return place_of(t, l, self.number)

    @property
    def parties(self) -> tuple[str, ...]:
        """All that are still in the run."""
        return (*SERVERS_AND_CUSTOMER, *self.owners)

    def loss(self, away: Sequence[str], t: int) -> Loss:
        """What these owners' leaving changes; refuses it where nothing would be left."""
        owners = [owner for owner in self.owners if owner in away]
        k = self.k - sum(self.owners[owner] for owner in owners)
        if len(owners) != len(away) or k == 0:
            raise ProtocolError(
                f"{', '.join(away)} cannot leave the run: only owners can, and not the last one; "
                "stop the run instead"
            )
        return Loss(owners, t, size_of(k))

    def checked(self, identity: Identity, left: OwnersLeft, t: int) -> Loss:
        """The loss that Controller tells of, if all others have agreed to it."""
        if self.terms.exclude_after is None:
            raise ProtocolError(
                "controller goes on without an owner, and the terms of this run do not allow it: "
                "only a run that was started with exclude_after can; start a new run"
            )
        if left.t != t:
            raise ProtocolError(
                f"controller goes on without {', '.join(left.exclusion.away)} from round {left.t}, "
                f"where round {t} is due: it is out of step; start a new run"
            )
        check_exclusion(identity, self.terms.run, left.exclusion, self.parties)
        return self.loss(list(left.exclusion.away), t)


class Leavers:
    """The owners that leave while Controller waits for a message of each."""

    def __init__(self, terms: SambaSharedTerms) -> None:
        self.exclusion: Exclusion | None = None
        self._may_leave = terms.exclude_after is not None

    def receive(self, owner: str, kind: type[M]) -> Steps[M | None]:
        """An owner's message; None if it has left."""
        before = self.exclusion
        if before is not None and owner in before.away:
            return None
        message: M | Exclusion = yield Receive(owner, kind, may_leave=self._may_leave)
        if not isinstance(message, Exclusion):
            return message
        # Of those who had to agree to the first ones, fewer are left: all have.
        self.exclusion = Exclusion(
            {**(before.away if before else {}), **message.away},
            {**(before.agreements if before else {}), **message.agreements},
        )
        return None

"""A feature party p: shares its part of each context."""

from collections.abc import Mapping
from math import hypot

import numpy as np

from lotor.core.effects import Checkpoint, Decision, Observe, Receive, Send, Steps
from lotor.core.errors import InputError
from lotor.core.vectors import UNIT_LENGTH
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import Words, to_words
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.ppcb.messages import Features, Next
from lotor.protocols.ppcb.terms import SEATS, SECOND, PPCBTerms
from lotor.protocols.two_server.checks import check_place, place_of
from lotor.protocols.two_server.outside import InputSharer

# How many contexts may be shared before the step that they belong to, and for how many the second
# server asks in one message.
AHEAD, TOGETHER = 4, 2


class PPCBOwnerMemory(Memory, tag="ppcb/4/owner"):
    """The key of its shares."""

    share_key: bytes


class PPCBOwner(Party):
    """Looks its features of each context up (line 5) and shares them (line 6)."""

    def __init__(self, name: str, terms: PPCBTerms, *, snapshot: bytes | None = None) -> None:
        self._name = name
        self._terms = terms
        self._columns = terms.columns()[name]
        self._shared = 0
        self._memory = (
            PPCBOwnerMemory(party=name, run=terms.run, share_key=new_key())
            if snapshot is None
            else restored(PPCBOwnerMemory, snapshot, name, terms.run)
        )
        self._sharer = InputSharer(self._memory.share_key, SEATS)

    def operations(self) -> Mapping[str, int]:
        return {"values_shared": self._shared}

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from self._sharer.set_up(terms.digest)
            memory.t = 1
        for t in range(memory.t, terms.steps + 1):
            memory.t = t
            step = terms.before + t
            yield Checkpoint(memory.dump, step)
            if t > AHEAD and (t - 1) % TOGETHER == 0:
                go_on: Next = yield Receive(SECOND, Next)
                check_place(go_on, place_of(t), SECOND)
            decision = Decision.hidden(terms.run, step)
            features: tuple[float, ...] = yield Observe(decision, self._columns)  # line 5
            share = self._sharer.share(self._encoded(features, step), t)
            self._shared += self._count
            yield Send(SECOND, Features(place_of(t), share))  # line 6

    @property
    def _count(self) -> int:
        low, high = self._columns
        return high - low

    def _encoded(self, features: tuple[float, ...], t: int) -> Words:
        """Fixed point. Features that do not fit are refused; the error does not show them."""
        # nan fails the comparison too.
        if len(features) != self._count or not hypot(*features) <= UNIT_LENGTH:
            raise InputError(
                f"{self._name} must bring {self._count} finite features for step {t}, of length at "
                "most 1 as a vector, and brings others: correct its features"
            )
        return to_words(np.array(features), self._terms.bits)

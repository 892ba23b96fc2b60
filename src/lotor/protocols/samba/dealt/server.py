"""What Controller and Comp both do: they take the argmax and add up on shares that tell nothing."""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Send, Steps
from lotor.crypto.sharing import Bits, Shared, Words
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.revealing import COUNTS
from lotor.protocols.samba.dealt.circuit import schedule, selection
from lotor.protocols.samba.dealt.messages import (
    WIRE,
    DealtBits,
    DealtCounts,
    DealtScores,
    DealtTotal,
)
from lotor.protocols.samba.dealt.terms import SEATS, SambaDealtTerms
from lotor.protocols.samba.tagged_totals import TaggedShare, added
from lotor.protocols.samba.tie_order import TieOrder
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.messages import PlacedShares
from lotor.protocols.two_server.server import SharingKeys, SharingServer


class SambaDealtServerMemory(Memory, tag=WIRE + "server"):
    """Keys, and nothing of any round. Controller makes the tie key."""

    keys: SharingKeys
    tie_key: bytes = b""


class SambaDealtServer(Party):
    """Server `number`: 0 is Controller, whose shares are functions of keys, and 1 is Comp."""

    number: int

    def __init__(self, terms: SambaDealtTerms, *, snapshot: bytes | None = None) -> None:
        me = SEATS[self.number]
        self._terms = terms
        self._circuit = selection(terms)
        self._memory = (
            SambaDealtServerMemory(party=me, run=terms.run, keys=SharingKeys.fresh(self.number))
            if snapshot is None
            else restored(SambaDealtServerMemory, snapshot, me, terms.run)
        )
        self._sharing = SharingServer(self.number, SEATS, schedule(terms), self._memory.keys)

    def operations(self) -> Mapping[str, int]:
        return self._sharing.operations()

    @abstractmethod
    def _set_up(self) -> Steps[None]:
        """Steps 0 and 1: agree on the terms, and on the run's keys."""

    @abstractmethod
    def _totals(self) -> Steps[list[TaggedShare]]:
        """Step 6: this server's share of each owner's total."""

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            yield from self._set_up()
            memory.t = terms.first
        order = TieOrder(memory.tie_key, terms.all_numbers)
        for t in terms.rounds[memory.t - terms.first :]:
            memory.t = t
            yield Checkpoint(memory.dump, t)
            yield BeginRound(t)
            for l in range(1, terms.iterations + 1):
                bits = yield from self._argmax(order, t, l)
                yield from self._tell(terms.turn(t, l), bits)  # step 5
        yield from self._tell_customer(order)
        sums = added((yield from self._totals()))  # step 6
        yield Send("customer", DealtTotal(place_of(terms.end), sums.to_bytes()))  # step 7

    def _argmax(self, order: TieOrder, t: int, l: int) -> Steps[Bits]:
        """This server's shares of a bit for each arm, 1 at the largest score."""
        turn, arms = self._terms.turn(t, l), order.at(t, l)
        scores = yield from self._inputs(DealtScores, turn)  # step 2
        ordered = Shared(scores[arms], first=self._sharing.first)
        selected = yield from self._sharing.compute(turn, self._circuit, ordered)
        bits = np.empty_like(selected.share)
        bits[arms] = selected.share
        return bits

    def _tell_customer(self, order: TieOrder) -> Steps[None]:
        """What it is told beyond the total, and nobody else."""
        terms = self._terms
        if terms.final_turn is not None:
            bits = yield from self._argmax(order, *terms.final_turn)
            number = len(terms.owners)
            yield from self._sharing.tell_bits("customer", DealtBits, terms.told, bits, number)
        elif terms.reveal == COUNTS:
            counts = yield from self._inputs(DealtCounts, terms.told)
            yield Send("customer", DealtCounts(place_of(terms.told), counts.tobytes()))

    def _inputs(self, kind: type[PlacedShares], turn: int) -> Steps[Words]:
        """This server's shares of what all owners bring."""
        parts = []
        for owner, held in self._terms.owners.items():
            parts.append((yield from self._sharing.take_input(owner, kind, turn, held)))
        return np.concatenate(parts)

    def _tell(self, turn: int, bits: Bits) -> Steps[None]:
        """Each owner alone is told the bits of its own arms."""
        for number, (owner, own) in enumerate(self._terms.arms().items()):
            yield from self._sharing.tell_bits(owner, DealtBits, turn, bits[own], number)

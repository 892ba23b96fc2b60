"""Controller in the shared form: garbles argmaxes ahead, and passes on what it cannot read."""

from collections.abc import Mapping
from struct import Struct

import msgspec

from lotor.core.effects import BeginRound, Checkpoint, Exclusion, Once, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.policies import Policy, to_text
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.wire import expect
from lotor.protocols.party import Party
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.relay import hand_out_terms, relay_keys
from lotor.protocols.samba.shared.era import Era, Leavers, Loss
from lotor.protocols.samba.shared.final_turn import pass_on_counts, pass_on_result
from lotor.protocols.samba.shared.garbling import Garbling
from lotor.protocols.samba.shared.messages import (
    WIRE,
    CompSum,
    CoveredScores,
    Escrow,
    OwnersLeft,
    ResultBits,
    ResultShares,
    SharedTieKey,
    SharedTotal,
    SumShare,
    SumsWanted,
)
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS, SCORE_BYTES
from lotor.protocols.samba.tagged_totals import SHARE_BYTES, TaggedShare, added
from lotor.protocols.samba.terms import accepted_terms


class Escrowed(msgspec.Struct, frozen=True, array_like=True):
    """Controller's share of what an owner had counted before a round, and where it came."""

    era: int
    t: int
    share: bytes

    def __repr__(self) -> str:
        return f"<Escrowed of round {self.t}>"


class SambaSharedControllerMemory(SambaMemory, tag=WIRE + "controller", kw_only=True):
    """`circuits` has what is needed to garble the current batch again.

    `escrows` has the last one of each owner.
    """

    terms: SambaSharedTerms | None = None
    circuits: GarblerState
    tie_key: bytes
    losses: list[Loss] = msgspec.field(default_factory=list)
    escrows: dict[str, Escrowed] = msgspec.field(default_factory=dict)


class SambaSharedController(Party):
    """Steps 1, 3, 4, 6, 8, 10 and 13; 4 and 6 again when owners have left."""

    def __init__(
        self,
        run: str,
        policy: Policy,
        *,
        tie_key: bytes | None = None,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        """`tie_key` decides between equal scores: from a seed in a simulation, fresh elsewhere."""
        self._policy = policy
        self._order = order
        self._garblings: list[Garbling] = []
        self._memory = (
            SambaSharedControllerMemory(
                party="controller",
                run=run,
                policy=to_text(policy),
                circuits=GarblerState.fresh(),
                tie_key=tie_key or new_key(),
            )
            if snapshot is None
            else restored_with(SambaSharedControllerMemory, snapshot, "controller", run, policy)
        )

    def operations(self) -> Mapping[str, int]:
        return {"garbled_and_gates": sum(one.garbled for one in self._garblings)}

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            era = Era((yield from self._setup()))
            garbling = self._garbling(era)
            yield from garbling.begin("comp")  # steps 5 and 6
            memory.terms = era.terms
        else:
            era = Era(memory.terms, memory.losses)
            garbling = self._garbling(era)
            garbling.restore()
        while (lost := (yield from self._core(era, garbling))) is not None:
            era = yield from self._without(era, *lost)
            memory.circuits = memory.circuits.renewed(era.name)
            yield from memory.circuits.set_up("comp", era.transfers)  # step 4
            garbling = self._garbling(era)
            yield from garbling.begin("comp")  # steps 5 and 6
        yield from self._cumulative_reward(era)

    def _garbling(self, era: Era) -> Garbling:
        self._garblings.append(Garbling(self._memory.circuits, self._memory.tie_key, era))
        return self._garblings[-1]

    def _without(self, era: Era, exclusion: Exclusion, t: int) -> Steps[Era]:
        """Tell all others that owners have left in round t, which begins anew without them."""
        memory = self._memory
        loss = era.loss(list(exclusion.away), t)
        memory.losses.append(loss)
        found = {one: memory.escrows[one] for one in loss.owners if one in memory.escrows}
        left = OwnersLeft(t, exclusion, {owner: (one.era, one.t) for owner, one in found.items()})
        after = Era(era.terms, memory.losses)
        # Whose scores are here now has not left, whatever becomes of it and of this party.
        yield Once(after.name.encode())
        # Once the rounds are over, the owners have done their part.
        owners = after.owners if t <= era.terms.last else ()
        for party in ("comp", *owners, "customer"):
            yield Send(party, left)
        return after

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        order: SambaOrder = yield Receive("customer", SambaOrder)  # step 0
        terms = accepted_terms(SambaSharedTerms, order.terms, self._order, memory.run, self._policy)
        yield from hand_out_terms(order, ("comp", *terms.owners))  # step 1
        owners = list(terms.owners)
        makers = {"comp": owners, terms.first_owner: owners[1:], "customer": owners}
        yield from relay_keys(terms, makers)  # step 2
        yield Send("comp", SharedTieKey(memory.tie_key))  # step 3
        yield from memory.circuits.set_up("comp", Era(terms).transfers)  # step 4
        return terms

    def _core(self, era: Era, garbling: Garbling) -> Steps[tuple[Exclusion, int] | None]:
        """The rounds of an era; who has left in which round, if it did not end by itself."""
        memory, schedule = self._memory, garbling.schedule
        for number in range(memory.circuits.batch, schedule.count):
            batch = schedule.batch(number)
            memory.circuits.batch = number
            memory.t = min(schedule.turn(batch.first).t, era.terms.last)
            yield Checkpoint(memory.dump, memory.t)
            for turn in batch.turns:
                t, l = schedule.turn(turn)
                place, final = era.place(t, l), schedule.is_final(turn)
                if l == 1 and not final:
                    yield BeginRound(t)
                scores = yield from self._scores(era, t, l)
                if isinstance(scores, Exclusion):
                    if turn == batch.turns[0] and number + 1 < schedule.count:
                        yield from garbling.columns("comp", number + 1)  # nobody needs them
                    return scores, t
                # The labels of two inputs at one place would give Comp delta, and so everything.
                yield Once(place + scores)
                labels = garbling.score_labels(turn, scores)
                yield Send("comp", InputLabels(place, labels))  # step 8
                # While Comp evaluates: the next batch.
                if turn == batch.turns[0]:
                    yield from garbling.garble_next("comp", number + 1)  # step 5
                if turn == batch.turns[-1]:
                    yield from garbling.send_tables("comp", number + 1)  # step 6
                codes = garbling.codes(turn)
                if final:
                    yield from pass_on_result(place, codes)
                else:
                    yield from self._hand_back(era, place, codes)
        return None

    def _scores(self, era: Era, t: int, l: int) -> Steps[bytes | Exclusion]:
        """Controller's shares of the scores of all arms, or who has left the run.

        Then all others have handed in scores of this round, too, which nobody uses.
        """
        scores, left, place = [], Leavers(era.terms), era.place(t, l)
        for owner, held in era.owners.items():
            if l == 1 and era.terms.exclude_after is not None:
                escrow: Escrow | None = yield from left.receive(owner, Escrow)
                if escrow is not None:
                    expect(escrow, place, owner, share=SHARE_BYTES)
                    self._memory.escrows[owner] = Escrowed(era.number, t, escrow.share)
            message: CoveredScores | None = yield from left.receive(owner, CoveredScores)  # step 7
            if message is not None:
                expect(message, place, owner, scores=held * SCORE_BYTES)
                scores.append(message.scores)
        return left.exclusion or b"".join(scores)

    def _hand_back(self, era: Era, place: bytes, mine: bytes) -> Steps[None]:
        """Each owner gets both servers' parts of its arms' bits."""
        theirs: ResultBits = yield Receive("comp", ResultBits)  # step 9
        expect(theirs, place, "comp", bits=era.k * COMP_BITS.size)
        for owner, own in era.arms().items():
            parts = _rows(mine, own, CONTROLLER_BITS), _rows(theirs.bits, own, COMP_BITS)
            yield Send(owner, ResultShares(place, *parts))  # step 10

    def _cumulative_reward(self, era: Era) -> Steps[None]:
        sums, left, memory = {}, Leavers(era.terms), self._memory
        for owner in era.owners:
            message: SumShare | None = yield from left.receive(owner, SumShare)  # step 11
            if message is not None:
                sums[owner] = message.share
        if era.terms.exclude_after is not None:
            # Whoever's sum is here now has not left, whatever becomes of it and of this party.
            yield Once(b"".join(sums.values()))
            if left.exclusion is not None:
                era = yield from self._without(era, left.exclusion, era.terms.last + 1)
            yield Send("comp", SumsWanted())
        shares = [TaggedShare.from_bytes(sums[owner], owner) for owner in era.owners]
        for loss in memory.losses:
            found = {owner: memory.escrows.get(owner) for owner in loss.owners}
            shares += [TaggedShare.from_bytes(e.share, one) for one, e in found.items() if e]
        yield from pass_on_counts(era.terms)
        theirs: CompSum = yield Receive("comp", CompSum)  # step 12
        yield Send("customer", SharedTotal(added(shares).to_bytes(), theirs.sealed))  # step 13


def _rows(rows: bytes, own: slice, row: Struct) -> bytes:
    """The rows of one owner's arms."""
    return rows[own.start * row.size : own.stop * row.size]

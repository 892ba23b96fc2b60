"""Controller in the shared form: garbles argmaxes ahead, and passes on what it cannot read."""

from collections.abc import Mapping
from struct import Struct

from lotor.core.effects import BeginRound, Checkpoint, Once, Receive, Send, Steps
from lotor.crypto.prf import new_key
from lotor.policies import Policy, to_text
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.wire import expect
from lotor.protocols.party import Party
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.relay import hand_out_terms, relay_keys
from lotor.protocols.samba.shared.final_turn import pass_on_counts, pass_on_result
from lotor.protocols.samba.shared.garbling import Garbling
from lotor.protocols.samba.shared.messages import (
    WIRE,
    CompSum,
    CoveredScores,
    ResultBits,
    ResultShares,
    SharedTieKey,
    SharedTotal,
    SumShare,
)
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS, SCORE_BYTES
from lotor.protocols.samba.tagged_totals import TaggedShare, added
from lotor.protocols.samba.terms import accepted_terms
from lotor.protocols.samba.wire import place_of


class SambaSharedControllerMemory(SambaMemory, tag=WIRE + "controller", kw_only=True):
    """`circuits` has what is needed to garble the current batch again."""

    terms: SambaSharedTerms | None = None
    circuits: GarblerState
    tie_key: bytes


class SambaSharedController(Party):
    """Steps 1, 3, 4, 6, 8, 10 and 13."""

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
        self._garbling: Garbling | None = None
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
        return {"garbled_and_gates": self._garbling.garbled if self._garbling else 0}

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            terms = yield from self._setup()
            self._garbling = Garbling(memory.circuits, memory.tie_key, terms)
            yield from self._garbling.begin("comp")  # steps 5 and 6
            memory.terms = terms
        else:
            terms = memory.terms
            self._garbling = Garbling(memory.circuits, memory.tie_key, terms)
            self._garbling.restore()
        yield from self._core(terms, self._garbling)
        yield from self._cumulative_reward(terms)

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        order: SambaOrder = yield Receive("customer", SambaOrder)  # step 0
        terms = accepted_terms(SambaSharedTerms, order.terms, self._order, memory.run, self._policy)
        yield from hand_out_terms(order, ("comp", *terms.owners))  # step 1
        owners = list(terms.owners)
        makers = {"comp": owners, terms.first_owner: owners[1:], "customer": owners}
        yield from relay_keys(terms, makers)  # step 2
        yield Send("comp", SharedTieKey(memory.tie_key))  # step 3
        yield from memory.circuits.set_up("comp", terms.run)  # step 4
        return terms

    def _core(self, terms: SambaSharedTerms, garbling: Garbling) -> Steps[None]:
        memory, schedule = self._memory, garbling.schedule
        for number in range(memory.circuits.batch, schedule.count):
            batch = schedule.batch(number)
            memory.circuits.batch = number
            memory.t = min(schedule.turn(batch.first).t, terms.last)
            yield Checkpoint(memory.dump, memory.t)
            for turn in batch.turns:
                t, l = schedule.turn(turn)
                place, final = place_of(t, l), schedule.is_final(turn)
                if l == 1 and not final:
                    yield BeginRound(t)
                scores = yield from self._scores(terms, place)
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
                    yield from self._hand_back(terms, place, codes)

    def _scores(self, terms: SambaSharedTerms, place: bytes) -> Steps[bytes]:
        """Controller's shares of the scores of all arms."""
        scores = []
        for owner, held in terms.owners.items():
            message: CoveredScores = yield Receive(owner, CoveredScores)  # step 7
            expect(message, place, owner, scores=held * SCORE_BYTES)
            scores.append(message.scores)
        return b"".join(scores)

    def _hand_back(self, terms: SambaSharedTerms, place: bytes, mine: bytes) -> Steps[None]:
        """Each owner gets both servers' parts of its arms' bits."""
        theirs: ResultBits = yield Receive("comp", ResultBits)  # step 9
        expect(theirs, place, "comp", bits=terms.k * COMP_BITS.size)
        for owner, own in terms.arms().items():
            parts = _rows(mine, own, CONTROLLER_BITS), _rows(theirs.bits, own, COMP_BITS)
            yield Send(owner, ResultShares(place, *parts))  # step 10

    def _cumulative_reward(self, terms: SambaSharedTerms) -> Steps[None]:
        shares = []
        for owner in terms.owners:
            message: SumShare = yield Receive(owner, SumShare)  # step 11
            shares.append(TaggedShare.from_bytes(message.share, owner))
        yield from pass_on_counts(terms)
        theirs: CompSum = yield Receive("comp", CompSum)  # step 12
        yield Send("customer", SharedTotal(added(shares).to_bytes(), theirs.sealed))  # step 13


def _rows(rows: bytes, own: slice, row: Struct) -> bytes:
    """The rows of one owner's arms."""
    return rows[own.start * row.size : own.stop * row.size]

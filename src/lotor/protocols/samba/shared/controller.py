"""Controller in the shared form: garbles argmaxes ahead, and passes on what it cannot read."""

from collections.abc import Mapping
from struct import Struct

from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.ot import BaseReceiver, Delta, column_bytes
from lotor.crypto.prf import new_key
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.relay import hand_out_terms, relay_keys
from lotor.protocols.samba.shared.garbling import Garbling
from lotor.protocols.samba.shared.messages import (
    WIRE,
    AgreedKeys,
    BaseAnswer,
    BaseOffer,
    Columns,
    CompSum,
    CoveredScores,
    GarbledTables,
    InputLabels,
    ResultBits,
    ResultShares,
    SharedTotal,
    SumShare,
)
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import (
    COMP_BITS,
    CONTROLLER_BITS,
    SCORE_BYTES,
    batch_place,
    expect,
)
from lotor.protocols.samba.tagged_totals import TaggedShare, added
from lotor.protocols.samba.terms import accepted_terms
from lotor.protocols.samba.wire import place_of


class SambaSharedControllerMemory(SambaMemory, tag=WIRE + "controller", kw_only=True):
    """Delta and all labels are derived from `garbling_key`; `seeds` come from the base transfers.

    `columns` are those of the batch that is garbled already, so that it can be garbled again.
    """

    terms: SambaSharedTerms | None = None
    garbling_key: bytes
    tie_key: bytes
    hash_key: bytes
    seeds: bytes = b""
    columns: bytes = b""
    batch: int = 0


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
        self._garbled = 0
        self._memory = (
            SambaSharedControllerMemory(
                party="controller",
                run=run,
                policy=to_text(policy),
                garbling_key=new_key(),
                tie_key=tie_key or new_key(),
                hash_key=new_key(),
            )
            if snapshot is None
            else restored_with(SambaSharedControllerMemory, snapshot, "controller", run, policy)
        )

    def operations(self) -> Mapping[str, int]:
        return {"garbled_and_gates": self._garbled}

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            terms = yield from self._setup()
            garbling = Garbling(memory, terms)
            yield from self._garble(garbling, 0)
            yield from self._send_tables(garbling, 0)
            memory.terms = terms
        else:
            terms = memory.terms
            garbling = Garbling(memory, terms)
            if memory.batch < garbling.schedule.count:
                # Its tables have been sent; its labels are computed again.
                garbling.garble(memory.batch, memory.columns)
        yield from self._core(terms, garbling)
        yield from self._cumulative_reward(terms)

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        order: SambaOrder = yield Receive("customer", SambaOrder)  # step 0
        terms = accepted_terms(SambaSharedTerms, order.terms, self._order, memory.run, self._policy)
        yield from hand_out_terms(order, ("comp", *terms.owners))  # step 1
        owners = list(terms.owners)
        makers = {"comp": owners, terms.first_owner: owners[1:], "customer": owners}
        yield from relay_keys(terms, makers)  # step 2
        yield Send("comp", AgreedKeys(memory.tie_key, memory.hash_key))  # step 3
        offer: BaseOffer = yield Receive("comp", BaseOffer)  # step 4
        delta = Delta.derive(memory.garbling_key, terms.run)
        receiver = BaseReceiver(memory.garbling_key, terms.run, delta.bits)
        answer, memory.seeds = receiver.answer(offer.offer)
        yield Send("comp", BaseAnswer(answer))
        return terms

    def _core(self, terms: SambaSharedTerms, garbling: Garbling) -> Steps[None]:
        memory, schedule = self._memory, garbling.schedule
        for number in range(memory.batch, schedule.count):
            batch = schedule.batch(number)
            memory.batch, memory.t = number, batch.turns[0].t
            yield Checkpoint(memory.dump, memory.t)
            for turn, (t, l) in enumerate(batch.turns):
                place = place_of(t, l)
                scores = yield from self._scores(terms, place)
                # The labels of two inputs at one place would give Comp delta, and so everything.
                yield Once(place + scores)
                labels = garbling.labels(batch, turn, scores)
                yield Send("comp", InputLabels(place, labels))  # step 8
                # While Comp evaluates: the next batch.
                if turn == 0:
                    yield from self._garble(garbling, number + 1)
                if turn == len(batch.turns) - 1:
                    yield from self._send_tables(garbling, number + 1)
                yield from self._hand_back(terms, place, garbling.codes(batch, turn))

    def _scores(self, terms: SambaSharedTerms, place: bytes) -> Steps[bytes]:
        """Controller's shares of the scores of all arms."""
        scores = []
        for owner, held in terms.owners.items():
            message: CoveredScores = yield Receive(owner, CoveredScores)  # step 7
            expect(message, place, owner, scores=held * SCORE_BYTES)
            scores.append(message.scores)
        return b"".join(scores)

    def _garble(self, garbling: Garbling, number: int) -> Steps[None]:
        """Steps 5 and 6, ahead of time: garble a batch for Comp's columns."""
        schedule = garbling.schedule
        if number < schedule.count:
            turns = len(schedule.batch(number).turns)
            message: Columns = yield Receive("comp", Columns)  # step 5
            size = column_bytes(turns * schedule.circuit.places * SCORE_BITS)
            expect(message, batch_place(number), "comp", columns=size)
            self._memory.columns = message.columns
            garbling.garble(number, message.columns)
            self._garbled += turns * schedule.circuit.ands

    def _send_tables(self, garbling: Garbling, number: int) -> Steps[None]:
        if number < garbling.schedule.count:
            for part, tables in enumerate(garbling.tables(number)):
                yield Send("comp", GarbledTables(batch_place(number, part), tables))  # step 6

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
        theirs: CompSum = yield Receive("comp", CompSum)  # step 12
        yield Send("customer", SharedTotal(added(shares).to_bytes(), theirs.sealed))  # step 13


def _rows(rows: bytes, own: slice, row: Struct) -> bytes:
    """The rows of one owner's arms."""
    return rows[own.start * row.size : own.stop * row.size]

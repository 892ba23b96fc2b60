"""Comp in the shared form: evaluates garbled circuits without reading what they compute."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.ot import TRANSFERS, BaseSender
from lotor.crypto.prf import derive_key, new_key
from lotor.crypto.signing import Identity
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaSetup
from lotor.protocols.samba.shared.evaluation import Evaluation
from lotor.protocols.samba.shared.messages import (
    WIRE,
    AgreedKeys,
    BaseAnswer,
    BaseOffer,
    Columns,
    CompSum,
    GarbledTables,
    InputLabels,
    ResultBits,
)
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.schedule import AHEAD, TurnBatch
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import (
    INPUT_BYTES,
    batch_place,
    comp_bits,
    expect,
    key_from,
)
from lotor.protocols.samba.tagged_totals import added, drawn_share
from lotor.protocols.samba.wire import place_of

SHARE_KEY = "share key"
COMP_SUM = "sum of comp's shares"


class SambaSharedCompMemory(SambaMemory, tag=WIRE + "comp", kw_only=True):
    """Each owner's key is derived from `owners_key`; `transfer_key` is for the base transfers,
    whose result is `seed_pairs`. Controller makes `tie_key` and `hash_key`."""

    terms: SambaSharedTerms | None = None
    owners_key: bytes
    transfer_key: bytes
    seed_pairs: bytes = b""
    tie_key: bytes = b""
    hash_key: bytes = b""
    batch: int = 0


class SambaSharedComp(Party):
    """Steps 2, 4, 5, 9 and 12."""

    def __init__(
        self,
        identity: Identity,
        run: str,
        policy: Policy,
        *,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._ring = KeyRing(identity, run, order)
        self._policy = policy
        self._memory = (
            SambaSharedCompMemory(
                party=identity.name,
                run=run,
                policy=to_text(policy),
                owners_key=new_key(),
                transfer_key=new_key(),
            )
            if snapshot is None
            else restored_with(SambaSharedCompMemory, snapshot, identity.name, run, policy)
        )
        self._evaluated = self._transfers = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": self._evaluated,
            "base_transfers": self._transfers,
            **self._ring.operations(),
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        begun = memory.terms is not None
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
        terms = memory.terms
        pads = AllPads(owners_keys(memory.owners_key, terms), terms.owners)
        evaluation = Evaluation(memory, terms, pads)
        for number in range(memory.batch, min(memory.batch + AHEAD, evaluation.schedule.count)):
            columns = evaluation.columns(number)
            if not begun:
                yield Send("controller", Columns(batch_place(number), columns))  # step 5
        yield from self._core(terms, evaluation, pads)
        yield from self._cumulative_reward(terms)

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, SambaSharedTerms, self._policy)
        offers: Offers = yield Receive("controller", Offers)
        keys = owners_keys(memory.owners_key, terms)
        yield Send("controller", self._ring.seal(keys, offers, SHARE_KEY))  # step 2
        given: AgreedKeys = yield Receive("controller", AgreedKeys)  # step 3
        memory.tie_key = key_from(given.tie_key, "controller")
        memory.hash_key = key_from(given.hash_key, "controller")
        sender = BaseSender(memory.transfer_key, terms.run)
        yield Send("controller", BaseOffer(sender.offer()))  # step 4
        answer: BaseAnswer = yield Receive("controller", BaseAnswer)
        memory.seed_pairs = sender.pairs(answer.answer)
        self._transfers += TRANSFERS
        return terms

    def _core(self, terms: SambaSharedTerms, evaluation: Evaluation, pads: AllPads) -> Steps[None]:
        memory, schedule = self._memory, evaluation.schedule
        for number in range(memory.batch, schedule.count):
            batch = schedule.batch(number)
            memory.batch, memory.t = number, batch.turns[0].t
            yield Checkpoint(memory.dump, memory.t)
            tables = yield from self._tables(batch, evaluation)
            for turn, (t, l) in enumerate(batch.turns):
                place = place_of(t, l)
                given: InputLabels = yield Receive("controller", InputLabels)  # step 8
                expect(given, place, "controller", labels=terms.k * INPUT_BYTES)
                signs = evaluation.signs(batch, turn, given.labels, tables[turn])
                self._evaluated += schedule.circuit.ands
                bits = comp_bits(signs, pads.colours(t, l), pads.tags(t, l))
                yield Send("controller", ResultBits(place, bits))  # step 9
            evaluation.done(batch)
            if number + AHEAD < schedule.count:
                # While owners compute their next scores.
                columns = evaluation.columns(number + AHEAD)
                yield Send("controller", Columns(batch_place(number + AHEAD), columns))  # step 5

    def _tables(self, batch: TurnBatch, evaluation: Evaluation) -> Steps[list[memoryview]]:
        """The garbled circuit of each turn of a batch, which Controller has sent ahead."""
        schedule, parts = evaluation.schedule, []
        for part, cut in enumerate(schedule.parts(batch)):
            message: GarbledTables = yield Receive("controller", GarbledTables)  # step 6
            place = batch_place(batch.number, part)
            expect(message, place, "controller", tables=cut.stop - cut.start)
            parts.append(message.tables)
        whole = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))
        each = schedule.circuit.table_bytes
        return [whole[n * each : (n + 1) * each] for n in range(len(batch.turns))]

    def _cumulative_reward(self, terms: SambaSharedTerms) -> Steps[None]:
        keys = owners_keys(self._memory.owners_key, terms)
        share = added(drawn_share(key) for key in keys.values()).to_bytes()
        sealed = self._ring.seal_to("customer", terms.customer_key, share, COMP_SUM)
        yield Send("controller", CompSum(sealed))  # step 12


def owners_keys(secret: bytes, terms: SambaSharedTerms) -> dict[str, bytes]:
    """The key that Comp has with each owner, another one for each."""
    return {owner: derive_key(secret, f"share key of {owner}") for owner in terms.owners}

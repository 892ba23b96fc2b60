"""Comp in the shared form: evaluates garbled circuits without reading what they compute."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.ot import TRANSFERS
from lotor.crypto.prf import derive_key, new_key
from lotor.crypto.signing import Identity
from lotor.policies import Policy, to_text
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.wire import expect, key_from
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaSetup
from lotor.protocols.samba.shared.evaluation import Evaluation
from lotor.protocols.samba.shared.final_turn import shown_to_customer
from lotor.protocols.samba.shared.messages import WIRE, CompSum, ResultBits, SharedTieKey
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import INPUT_BYTES, comp_bits
from lotor.protocols.samba.tagged_totals import added, drawn_share
from lotor.protocols.samba.wire import place_of

SHARE_KEY = "share key"
COMP_SUM = "sum of comp's shares"


class SambaSharedCompMemory(SambaMemory, tag=WIRE + "comp", kw_only=True):
    """Each owner's key is derived from `owners_key`. Controller makes `tie_key`."""

    terms: SambaSharedTerms | None = None
    owners_key: bytes
    circuits: EvaluatorState
    tie_key: bytes = b""


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
                circuits=EvaluatorState.fresh(),
            )
            if snapshot is None
            else restored_with(SambaSharedCompMemory, snapshot, identity.name, run, policy)
        )
        self._evaluation: Evaluation | None = None
        self._transfers = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": self._evaluation.evaluated if self._evaluation else 0,
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
        self._evaluation = Evaluation(memory.circuits, memory.tie_key, terms, pads)
        yield from self._evaluation.begin("controller", restored=begun)  # step 5
        yield from self._core(terms, self._evaluation, pads)
        yield from self._cumulative_reward(terms)

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, SambaSharedTerms, self._policy)
        offers: Offers = yield Receive("controller", Offers)
        keys = owners_keys(memory.owners_key, terms)
        yield Send("controller", self._ring.seal(keys, offers, SHARE_KEY))  # step 2
        ties: SharedTieKey = yield Receive("controller", SharedTieKey)  # step 3
        memory.tie_key = key_from(ties.key, "controller")
        yield from memory.circuits.set_up("controller", terms.run)  # step 4
        self._transfers += TRANSFERS
        return terms

    def _core(self, terms: SambaSharedTerms, evaluation: Evaluation, pads: AllPads) -> Steps[None]:
        memory, schedule = self._memory, evaluation.schedule
        for number in range(memory.circuits.batch, schedule.count):
            batch = schedule.batch(number)
            memory.circuits.batch = number
            memory.t = min(schedule.turn(batch.first).t, terms.last)
            yield Checkpoint(memory.dump, memory.t)
            yield from evaluation.receive_tables("controller", number)  # step 6
            for turn in batch.turns:
                t, l = schedule.turn(turn)
                place = place_of(t, l)
                given: InputLabels = yield Receive("controller", InputLabels)  # step 8
                expect(given, place, "controller", labels=terms.k * INPUT_BYTES)
                signs = evaluation.signs(turn, given.labels)
                if schedule.is_final(turn):
                    yield from shown_to_customer(self._ring, terms, signs)
                    continue
                bits = comp_bits(signs, pads.colours(t, l), pads.tags(t, l))
                yield Send("controller", ResultBits(place, bits))  # step 9
            evaluation.forget(number)
            # While owners compute their next scores.
            yield from evaluation.choose_next("controller", number)  # step 5

    def _cumulative_reward(self, terms: SambaSharedTerms) -> Steps[None]:
        keys = owners_keys(self._memory.owners_key, terms)
        share = added(drawn_share(key) for key in keys.values()).to_bytes()
        sealed = self._ring.seal_to("customer", terms.customer_key, share, COMP_SUM)
        yield Send("controller", CompSum(sealed))  # step 12


def owners_keys(secret: bytes, terms: SambaSharedTerms) -> dict[str, bytes]:
    """The key that Comp has with each owner, another one for each."""
    return {owner: derive_key(secret, f"share key of {owner}") for owner in terms.owners}

"""Comp in the shared form: evaluates garbled circuits without reading what they compute."""

from collections.abc import Mapping

import msgspec

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.derivation import derive_key
from lotor.crypto.ot import TRANSFERS
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.policies import Policy, to_text
from lotor.protocols.garbled.evaluator import EvaluatorState
from lotor.protocols.garbled.messages import InputLabels
from lotor.protocols.garbled.wire import expect, key_from
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaSetup
from lotor.protocols.samba.shared.era import Era, Loss
from lotor.protocols.samba.shared.evaluation import Evaluation
from lotor.protocols.samba.shared.final_turn import shown_to_customer
from lotor.protocols.samba.shared.messages import (
    WIRE,
    CompSum,
    OwnersLeft,
    ResultBits,
    SharedTieKey,
    SumsWanted,
)
from lotor.protocols.samba.shared.pads import AllPads
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import INPUT_BYTES, comp_bits
from lotor.protocols.samba.tagged_totals import TaggedShare, added, drawn_share

SHARE_KEY = "share key"
COMP_SUM = "sum of comp's shares"


class SambaSharedCompMemory(SambaMemory, tag=WIRE + "comp", kw_only=True):
    """Each owner's key is derived from `owners_key`. Controller makes `tie_key`.

    `escrowed` has Comp's shares of what counts for owners that have left.
    """

    terms: SambaSharedTerms | None = None
    owners_key: bytes
    circuits: EvaluatorState
    tie_key: bytes = b""
    losses: list[Loss] = msgspec.field(default_factory=list)
    escrowed: list[bytes] = msgspec.field(default_factory=list)


class SambaSharedComp(Party):
    """Steps 2, 4, 5, 9 and 12; 4 and 5 again when owners have left."""

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
        self._evaluations: list[Evaluation] = []
        self._transfers = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "evaluated_and_gates": sum(one.evaluated for one in self._evaluations),
            "base_transfers": self._transfers,
            **self._ring.operations(),
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        begun = memory.terms is not None
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
        era = Era(memory.terms, memory.losses)
        evaluation = self._evaluation(era)
        yield from evaluation.begin("controller", restored=begun)  # step 5
        while (lost := (yield from self._core(era, evaluation))) is not None:
            era = self._without(era, *lost)
            memory.circuits = memory.circuits.renewed(era.name)
            yield from self._transfer(era)  # step 4
            evaluation = self._evaluation(era)
            yield from evaluation.begin("controller")  # step 5
        yield from self._cumulative_reward(era)

    def _evaluation(self, era: Era) -> Evaluation:
        memory = self._memory
        pads = AllPads(era.keys(owners_keys(memory.owners_key, era.terms)), era.owners)
        self._evaluations.append(Evaluation(memory.circuits, memory.tie_key, era, pads))
        return self._evaluations[-1]

    def _without(self, era: Era, left: OwnersLeft, t: int) -> Era:
        """What follows when owners have left in round t, whose escrowed sums count from now on."""
        memory = self._memory
        loss = era.checked(self._ring.identity, left, t)
        keys = owners_keys(memory.owners_key, era.terms)
        for owner in loss.owners:
            # In the first round it may have left nothing.
            if owner in left.escrows or t > era.terms.first:
                number, counted = _last_escrow(era, left, owner)
                key = Era(era.terms, memory.losses[:number]).key(keys[owner])
                memory.escrowed.append(drawn_share(key, counted).to_bytes())
        memory.losses.append(loss)
        return Era(era.terms, memory.losses)

    def _setup(self) -> Steps[SambaSharedTerms]:
        memory = self._memory
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, SambaSharedTerms, self._policy)
        offers: Offers = yield Receive("controller", Offers)
        keys = owners_keys(memory.owners_key, terms)
        yield Send("controller", self._ring.seal(keys, offers, SHARE_KEY))  # step 2
        ties: SharedTieKey = yield Receive("controller", SharedTieKey)  # step 3
        memory.tie_key = key_from(ties.key, "controller")
        yield from self._transfer(Era(terms))  # step 4
        return terms

    def _transfer(self, era: Era) -> Steps[None]:
        """The hash's key, and base transfers for the labels of an era."""
        yield from self._memory.circuits.set_up("controller", era.transfers)
        self._transfers += TRANSFERS

    def _core(self, era: Era, evaluation: Evaluation) -> Steps[tuple[OwnersLeft, int] | None]:
        """The rounds of an era; who has left in which round, if it did not end by itself."""
        memory, schedule, pads = self._memory, evaluation.schedule, evaluation.pads
        for number in range(memory.circuits.batch, schedule.count):
            batch = schedule.batch(number)
            memory.circuits.batch = number
            memory.t = min(schedule.turn(batch.first).t, era.terms.last)
            yield Checkpoint(memory.dump, memory.t)
            yield from evaluation.receive_tables("controller", number)  # step 6
            for turn in batch.turns:
                t, l = schedule.turn(turn)
                place = era.place(t, l)
                given: InputLabels | OwnersLeft = yield Receive(
                    "controller", InputLabels, OwnersLeft
                )  # step 8
                if isinstance(given, OwnersLeft):
                    return given, t
                expect(given, place, "controller", labels=era.k * INPUT_BYTES)
                signs = evaluation.signs(turn, given.labels)
                if schedule.is_final(turn):
                    yield from shown_to_customer(self._ring, era.terms, signs)
                    continue
                bits = comp_bits(signs, pads.colours(t, l), pads.tags(t, l))
                yield Send("controller", ResultBits(place, bits))  # step 9
            evaluation.forget(number)
            # While owners compute their next scores.
            yield from evaluation.choose_next("controller", number)  # step 5
        return None

    def _cumulative_reward(self, era: Era) -> Steps[None]:
        memory, terms = self._memory, era.terms
        if terms.exclude_after is not None:
            wanted: SumsWanted | OwnersLeft = yield Receive("controller", SumsWanted, OwnersLeft)
            if isinstance(wanted, OwnersLeft):
                era = self._without(era, wanted, terms.last + 1)
                yield Receive("controller", SumsWanted)
        keys = owners_keys(memory.owners_key, terms)
        shares = [drawn_share(keys[owner]) for owner in era.owners]
        shares += [TaggedShare.from_bytes(share, "comp") for share in memory.escrowed]
        share = added(shares).to_bytes()
        sealed = self._ring.seal_to("customer", terms.customer_key, share, COMP_SUM)
        yield Send("controller", CompSum(sealed))  # step 12


def _last_escrow(era: Era, left: OwnersLeft, owner: str) -> tuple[int, int]:
    """The era and the round of what a lost owner left last: before this round, or the last one.

    A Controller that counts less would show in no tag.
    """
    number, counted = left.escrows.get(owner, (0, 0))
    last = range(left.t - 1, left.t + 1)
    if not 0 <= number <= era.number or counted not in last or counted not in era.terms.rounds:
        raise ProtocolError(
            f"controller counts for {owner}, which is lost in round {left.t}, not what {owner} "
            "left last: it is out of step, or drops outcomes; start a new run"
        )
    return number, counted


def owners_keys(secret: bytes, terms: SambaSharedTerms) -> dict[str, bytes]:
    """The key that Comp has with each owner, another one for each."""
    return {owner: derive_key(secret, f"share key of {owner}") for owner in terms.owners}

"""The data owner DO with live rewards: pulls what P chooses, and hands out rewards encrypted."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Decision, Pull, Receive, Send, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import SECURE_BITS, Randomisers
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms, VectorArms
from lotor.policies.linear import LiveLayout
from lotor.protocols.linucb_ds.live.messages import ChosenArm, EncryptedReward, LiveCatalogue
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.paper.messages import CompKey
from lotor.protocols.linucb_ds.paper.owner import key_of_comp
from lotor.protocols.linucb_ds.paper.wire import arm_from, place_of
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.received import public_key_from


class LiveOwnerMemory(Memory, tag="linucb-ds-live/1/owner"):
    """How far it is, and under which key rewards leave. Rewards stay where the owner keeps them."""

    terms: LiveTerms | None = None
    comp_key: bytes = b""


class LiveOwner(Party):
    """Step 1 of Figure 3, and the pulls."""

    def __init__(
        self,
        identity: Identity,
        run: str,
        arms: LinearArms | VectorArms,
        scale: RewardScale,
        *,
        minimum_key_bits: int = SECURE_BITS,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._arms = arms
        self._scale = scale
        self._minimum_bits = minimum_key_bits
        self._order = order
        self._encryptions = 0
        self._memory = (
            LiveOwnerMemory(party=identity.name, run=run)
            if snapshot is None
            else restored(LiveOwnerMemory, snapshot, identity.name, run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_encryptions": self._encryptions,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
            memory.t = 1
        terms, layout = memory.terms, self._layout(memory.terms)
        key = public_key_from(memory.comp_key, self._minimum_bits, "comp")
        with Randomisers(key, uses=terms.budget - memory.t + 1) as randomisers:
            for t in range(memory.t, terms.budget + 1):
                memory.t = t
                yield Checkpoint(memory.dump, t)
                chosen: ChosenArm = yield Receive("principal", ChosenArm)
                arm = arm_from(chosen.t, chosen.arm, self._arms.k, t)
                # Masked, though Paillier hides any two rewards: a second one would give Comp two
                # lists of scores in one permutation.
                decision = Decision.named(memory.run, t, arm)
                reward: float = yield Pull(decision, masked=True)
                hidden = key.encrypt(layout.excess(reward), randomisers)
                self._encryptions += 1
                yield Send("principal", EncryptedReward(place_of(t), hidden.to_bytes()))

    def _setup(self) -> Steps[LiveTerms]:
        memory, arms = self._memory, self._arms
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)
        terms = accept(LiveTerms, setup, self._identity, memory.run, self._order)
        self._layout(terms)
        message: CompKey = yield Receive("principal", CompKey)
        memory.comp_key = key_of_comp(message, self._identity, memory.run)
        public_key_from(memory.comp_key, self._minimum_bits, "comp")
        fields = {**LiveCatalogue.fields(arms), "noise_sd": 0.0}
        yield Send("principal", LiveCatalogue(**fields))  # step 1
        return terms

    def _layout(self, terms: LiveTerms) -> LiveLayout:
        """Refuses terms of other rewards than the owner's, and arms that do not fit."""
        if terms.scale != self._scale:
            raise InputError(
                f"the order has rewards from {terms.low:g} to {terms.high:g}, and the owner's lie "
                f"from {self._scale.low:g} to {self._scale.high:g}: order again, since the owner's "
                "reward_range has changed"
            )
        arms, policy = self._arms, terms.check(self._memory.run)
        model = policy.start(arms.vectors, budget=terms.budget, eigenvalues=arms.eigenvalues)
        return LiveLayout(arms.vectors, model.least_penalty, terms.scale, terms.budget)

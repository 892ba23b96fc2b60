"""The data owner DO with live rewards: pulls what P chooses, and hands out rewards encrypted."""

from typing import Any

from lotor.core.effects import Checkpoint, Decision, Pull, Receive, Send, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import Randomisers
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms, VectorArms
from lotor.policies.linear import LiveLayout
from lotor.protocols.kept_linear import described
from lotor.protocols.linucb_ds.live.messages import ChosenArm, EncryptedReward, LiveCatalogue
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.paper.messages import CompKey
from lotor.protocols.linucb_ds.paper.owner import KeyedOwner
from lotor.protocols.linucb_ds.paper.wire import arm_from, place_of
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.memory import Memory
from lotor.protocols.received import public_key_from


class LiveOwnerMemory(Memory, tag="linucb-ds-live/1/owner"):
    """How far it is, and under which key rewards leave. Rewards stay where the owner keeps them."""

    terms: LiveTerms | None = None
    comp_key: bytes = b""


class LiveOwner(KeyedOwner[LinearArms | VectorArms, LiveOwnerMemory]):
    """Step 1 of Figure 3, and the pulls, whose rewards lie in the range of `scale`."""

    memory_kind = LiveOwnerMemory

    def __init__(
        self,
        identity: Identity,
        run: str,
        arms: LinearArms | VectorArms,
        scale: RewardScale,
        **given: Any,
    ) -> None:
        super().__init__(identity, run, arms, **given)
        self._scale = scale

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
            memory.t = 1
        terms, layout = memory.terms, self.layout_of(memory.terms)
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
        self.layout_of(terms)
        message: CompKey = yield Receive("principal", CompKey)
        memory.comp_key = self._comp_key(message)
        public_key_from(memory.comp_key, self._minimum_bits, "comp")
        fields = {**described(arms), "noise_sd": 0.0}
        yield Send("principal", LiveCatalogue(**fields))  # step 1
        return terms

    def layout_of(self, terms: LiveTerms) -> LiveLayout:
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

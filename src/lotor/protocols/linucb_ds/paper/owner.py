"""The data owner DO: knows theta, and hands it out under Comp's key only."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.paillier import SECURE_BITS, Randomisers
from lotor.crypto.signing import Identity
from lotor.environments import LinearArms, VectorArms
from lotor.protocols.kept_linear import described
from lotor.protocols.linucb_ds.messages import LinUCBSetup
from lotor.protocols.linucb_ds.paper.messages import CompKey, Model
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.paper.wire import COMP_KEY
from lotor.protocols.linucb_ds.terms import accept
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.plain.linear import linear_layout
from lotor.protocols.received import public_key_from


class LinUCBOwnerMemory(Memory, tag="linucb-ds/2/owner"):
    """The owner's place in the run only: theta stays where the owner keeps it."""


A = TypeVar("A", bound=LinearArms | VectorArms)
M = TypeVar("M", bound=Memory)


class KeyedOwner(Party, Generic[A, M]):
    """Hands out the arms, and what is secret under Comp's key."""

    memory_kind: type[M]

    def __init__(
        self,
        identity: Identity,
        run: str,
        arms: A,
        *,
        minimum_key_bits: int = SECURE_BITS,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._identity = identity
        self._arms = arms
        self._minimum_bits = minimum_key_bits
        self._order = order
        self._encryptions = 0
        self._memory: M = (
            self.memory_kind(party=identity.name, run=run)
            if snapshot is None
            else restored(self.memory_kind, snapshot, identity.name, run)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_encryptions": self._encryptions,
            "signatures": self._identity.signatures,
            "verifications": self._identity.verifications,
        }

    def _comp_key(self, message: CompKey) -> bytes:
        """Comp's public key, as Comp signed it for the owner: P has passed it on."""
        self._identity.verify(
            message.public,
            message.signature,
            sender="comp",
            run=self._memory.run,
            purpose=COMP_KEY,
            recipient=self._identity.name,
        )
        return message.public


class LinUCBOwner(KeyedOwner[LinearArms, LinUCBOwnerMemory]):
    """Step 1 of Figure 3."""

    memory_kind = LinUCBOwnerMemory

    def steps(self) -> Steps[None]:
        memory = self._memory
        yield Checkpoint(memory.dump)
        setup: LinUCBSetup = yield Receive("principal", LinUCBSetup)
        terms = accept(LinUCBPaperTerms, setup, self._identity, memory.run, self._order)
        message: CompKey = yield Receive("principal", CompKey)
        yield Send("principal", self._model(terms, self._comp_key(message)))  # step 1

    def _model(self, terms: LinUCBPaperTerms, comp_key: bytes) -> Model:
        """The arms, and theta* = (E_Comp(theta_1), …, E_Comp(theta_d))."""
        arms, policy = self._arms, terms.check(self._memory.run)
        policy.check_theta(arms.theta, arms.eigenvalues)
        layout = linear_layout(arms.vectors, policy, terms.slot_bits)
        key = public_key_from(comp_key, self._minimum_bits, "comp")
        with Randomisers(key, uses=arms.d) as randomisers:
            theta = [key.encrypt(m, randomisers).to_bytes() for m in layout.theta(arms.theta)]
        self._encryptions += arms.d
        return Model(**described(arms), theta=theta)

"""A data owner DO: keeps the data of its arms, scores and pulls them."""

from collections.abc import Mapping

import numpy as np

from lotor.core.cutting import cutter
from lotor.core.draws import Draws
from lotor.core.effects import Checkpoint, Decision, Pull, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import RewardScale, whole_scores
from lotor.crypto.aead import Aead
from lotor.crypto.paillier import SECURE_BITS
from lotor.crypto.prf import KEY_BYTES, ROUNDS_AHEAD, Prf, new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.policies import ArmSnapshot, ArmStates, Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.received import public_key_from
from lotor.protocols.samba.keys import AES_KEY, OWNERS_KEYS, KeyRing
from lotor.protocols.samba.mask import ScoreMask
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import (
    MaskedScores,
    Offers,
    PartialSums,
    Positions,
    PullingBits,
    SambaSealedKey,
    SambaSetup,
)
from lotor.protocols.samba.terms import SambaTerms
from lotor.protocols.samba.totals import packed
from lotor.protocols.samba.wire import (
    BIT_WIDTH,
    POSITION_WIDTH,
    Bindings,
    opened,
    place_name,
    place_of,
)


class SambaOwnerMemory(SambaMemory, tag="samba/1/owner"):
    """`own_key` (ties, samples) is this owner's alone; `mask_key` and `coin_key` are the owners',
    made by the first of them; `aes_key` is the owners' and Comp's."""

    sealing_key: bytes
    own_key: bytes
    coin_key: bytes
    mask_key: bytes
    aes_key: bytes = b""
    sealed: int = 0
    arms: ArmSnapshot | None = None


class SambaOwner(Party):
    """Figures 6 (a) and 9 (a), for `held` arms at once, with rewards in the range of `scale`.

    The draws of `own_key` and, at the first owner, `coin_key` decide arms. A simulation derives
    them from its seed; elsewhere they are fresh.
    """

    def __init__(
        self,
        identity: Identity,
        run: str,
        policy: Policy,
        *,
        held: int,
        scale: RewardScale,
        minimum_key_bits: int = SECURE_BITS,
        own_key: bytes | None = None,
        coin_key: bytes | None = None,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._ring = KeyRing(identity, run, order)
        self._name = identity.name
        self._policy = policy
        self._held = held
        self._scale = scale
        self._minimum_key_bits = minimum_key_bits
        self._aead: Aead | None = None
        self._encryptions = 0
        self._memory = (
            SambaOwnerMemory(
                party=identity.name,
                run=run,
                policy=to_text(policy),
                sealing_key=SealingKey().private_bytes(),
                own_key=own_key or new_key(),
                coin_key=coin_key or new_key(),
                mask_key=new_key(),
            )
            if snapshot is None
            else restored_with(SambaOwnerMemory, snapshot, identity.name, run, policy)
        )

    def operations(self) -> Mapping[str, int]:
        aes = self._aead.operations() if self._aead else {}
        return {**aes, "paillier_encryptions": self._encryptions, **self._ring.operations()}

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None or memory.arms is None:
            yield Checkpoint(memory.dump)
            memory.terms, memory.arms = yield from self._setup()
            memory.t = memory.terms.k + 1
            memory.sealing_key = b""  # done its work
        else:
            self._check(memory.terms)
        arms = ArmStates.restore(memory.arms)
        yield from self._core(memory.terms, arms)
        yield from self._cumulative_reward(memory.terms, arms)

    def _setup(self) -> Steps[tuple[SambaTerms, ArmSnapshot]]:
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, self._policy)
        self._check(terms)
        sealing = SealingKey(self._memory.sealing_key)
        yield Send("controller", self._ring.offer(sealing.public, terms.first_owner))
        sealed: SambaSealedKey = yield Receive("controller", SambaSealedKey)
        self._memory.aes_key = self._ring.open(sealing, sealed, "comp", AES_KEY)
        yield from self._share_owners_keys(terms, sealing)
        arms = yield from self._first_pulls(terms)
        return terms, arms

    def _check(self, terms: SambaTerms) -> None:
        """Refuse terms, ordered or restored, that are not about this owner's arms."""
        if terms.owners.get(self._name) != self._held or terms.scale != self._scale:
            raise ProtocolError(
                f"the terms of this run do not fit {self._name}, which holds {self._held} arms "
                f"with rewards from {self._scale.low} to {self._scale.high}: order or start it "
                f"again with what {self._name} offers"
            )
        public_key_from(terms.customer_key, self._minimum_key_bits, "customer")

    def _share_owners_keys(self, terms: SambaTerms, sealing: SealingKey) -> Steps[None]:
        """The mask key and the coin key: the first owner seals its own to the others."""
        memory = self._memory
        first, *others = terms.owners
        if self._name == first:
            offers: Offers = yield Receive("controller", Offers)
            both = memory.mask_key + memory.coin_key
            yield Send("controller", self._ring.seal(both, offers, others, OWNERS_KEYS))
        else:
            sealed: SambaSealedKey = yield Receive("controller", SambaSealedKey)
            both = self._ring.open(sealing, sealed, first, OWNERS_KEYS)
            memory.mask_key, memory.coin_key = both[:KEY_BYTES], both[KEY_BYTES:]

    def _draws(self, terms: SambaTerms) -> tuple[Draws, range]:
        """This owner's draws, and the numbers that its arms have in the run."""
        own = terms.arms()[self._name]
        indices = range(own.start, own.stop)
        memory = self._memory
        draws = Draws(
            Prf(memory.own_key, indices, ahead=ROUNDS_AHEAD),
            Prf(memory.coin_key, ahead=ROUNDS_AHEAD),
        )
        return draws, indices

    def _first_pulls(self, terms: SambaTerms) -> Steps[ArmSnapshot]:
        """Pull each arm once."""
        draws, indices = self._draws(terms)
        arms = ArmStates(self._held, terms.k)
        self._policy.start(arms)
        for i, arm in enumerate(indices):
            reward: float = yield Pull(Decision.named(terms.run, arm + 1, arm))
            self._policy.learn(arms, i, self._scale.to_fixed(reward), draws.at(arm + 1, 0))
        return arms.snapshot()

    def _core(self, terms: SambaTerms, arms: ArmStates) -> Steps[None]:
        policy, memory = self._policy, self._memory
        aead = self._aead = Aead(memory.aes_key, sealed=memory.sealed)
        draws, indices = self._draws(terms)
        mask, bindings = ScoreMask(memory.mask_key), Bindings(terms.run)
        answer = self._by_bits if terms.selection == "bits" else self._by_position
        to_fixed, observes = self._scale.to_fixed, policy.observes

        def snapshot() -> bytes:
            memory.sealed, memory.arms = aead.sealed, arms.snapshot()
            return memory.dump()

        for t in range(memory.t, terms.budget + 1):
            memory.t = t
            yield Checkpoint(snapshot, t)
            for l in range(1, terms.iterations + 1):
                place = place_of(t, l)
                draws.at(t, l)
                scores = whole_scores(policy.score(arms, t, l, draws))
                masked = mask.apply(scores, draws.ties(), t, l)
                sealed = aead.seal(masked, bindings.to_comp(place))
                yield Send("controller", MaskedScores(place, sealed))  # step 2
                selected = yield from answer(aead, place, bindings.to_owner(place))  # step 5
                if observes:
                    policy.observe(arms, t, l, np.arange(len(arms)) == selected)
            if selected is None:
                yield Pull(None)
            else:
                reward: float = yield Pull(Decision.named(terms.run, t, indices[selected]))
                policy.learn(arms, selected, to_fixed(reward), draws.at(t, 0))

    def _by_bits(self, aead: Aead, place: bytes, bound: bytes) -> Steps[int | None]:
        """Which of its arms is selected: the one whose bit is 1."""
        message: PullingBits = yield Receive("controller", PullingBits)
        bits = opened(aead, message, place, (self._held, BIT_WIDTH), bound, "controller")
        ones = bits.count(b"\1")
        if ones > 1 or ones + bits.count(b"\0") < len(bits):
            raise ProtocolError(
                f"controller sent bits in {place_name(place)} that select more than one arm"
            )
        return bits.index(b"\1") if ones else None

    def _by_position(self, aead: Aead, place: bytes, bound: bytes) -> Steps[int | None]:
        """Which of its arms is selected: the one at the winning position."""
        message: Positions = yield Receive("controller", Positions)
        (winner,) = opened(aead, message, place, (1, POSITION_WIDTH), bound, "controller")
        if len(message.positions) != self._held * POSITION_WIDTH:
            raise ProtocolError(
                f"controller sent no position for some of {self._held} arms in {place_name(place)}"
            )
        positions = cutter(self._held, POSITION_WIDTH)(message.positions)
        return positions.index(winner) if winner in positions else None

    def _cumulative_reward(self, terms: SambaTerms, arms: ArmStates) -> Steps[None]:
        key = public_key_from(terms.customer_key, self._minimum_key_bits, "customer")
        pairs = zip(arms.s.tolist(), arms.n.tolist(), strict=True)
        sums = [key.encrypt(packed(s, n)).to_bytes() for s, n in pairs]
        self._encryptions += len(sums)
        yield Send("controller", PartialSums(sums))  # step 6

"""A data owner DO: keeps the data of its arms, scores and pulls them."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import Checkpoint, Decision, Pull, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import RewardScale, to_scores
from lotor.crypto.aead import Aead, fields
from lotor.crypto.paillier import SECURE_BITS, PublicKey
from lotor.crypto.prf import KEY_BYTES, ROUNDS_AHEAD, Prf, new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.policies import ArmSnapshot, ArmStates, Policy
from lotor.protocols.plain import observes
from lotor.protocols.samba.keys import AES_KEY, OWNERS_KEYS, KeyRing
from lotor.protocols.samba.mask import Mask
from lotor.protocols.samba.messages import (
    MaskedScores,
    Offers,
    PartialSums,
    Positions,
    PullingBits,
    SealedKey,
    SealedKeys,
    Setup,
    Terms,
)
from lotor.protocols.samba.wire import (
    BIT_WIDTH,
    POSITION_WIDTH,
    Bindings,
    opened,
    place_of,
)


class Memory(msgspec.Struct):
    """What an owner needs to go on from a round boundary.

    `own_key` (ties, samples) is this owner's alone; `mask_key` and `coin_key` are the owners';
    `aes_key` is the owners' and Comp's.
    """

    terms: Terms
    own_key: bytes
    coin_key: bytes
    mask_key: bytes
    aes_key: bytes
    arms: ArmSnapshot
    t: int
    sealed: int = 0

    def __repr__(self) -> str:
        return f"<Memory at round {self.t}>"


class Owner:
    """Figures 6 (a) and 9 (a), for one or more arms at once: `arms` are their numbers in the run.

    The draws of `own_key` and, at the first owner, `coin_key` decide arms. A simulation derives
    them from its seed; elsewhere they are fresh.
    """

    def __init__(
        self,
        identity: Identity,
        run: str,
        policy: Policy,
        arms: Sequence[int],
        *,
        first_owner: str,
        minimum_key_bits: int = SECURE_BITS,
        own_key: bytes | None = None,
        coin_key: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._ring = KeyRing(identity, run)
        self._policy = policy
        self._indices = arms
        self._first_owner = first_owner
        self._minimum_key_bits = minimum_key_bits
        self._own_key = own_key or new_key()
        self._coin_key = coin_key or new_key()
        self._restored = msgspec.msgpack.decode(snapshot, type=Memory) if snapshot else None
        self._aead: Aead | None = None
        self._encryptions = 0

    def operations(self) -> Mapping[str, int]:
        aes = self._aead.operations() if self._aead else {}
        return {**aes, "paillier_encryptions": self._encryptions, **self._ring.operations()}

    def steps(self) -> Steps[None]:
        memory = self._restored or (yield from self._setup())
        arms = ArmStates.restore(memory.arms)
        yield from self._core(memory, arms)
        yield from self._cumulative_reward(memory.terms, arms)

    def _setup(self) -> Steps[Memory]:
        setup: Setup = yield Receive("controller", Setup)  # step 1
        terms = self._ring.accept(setup, self._policy)
        sealing = SealingKey()
        yield Send("controller", self._ring.offer(sealing.public, self._first_owner))
        sealed: SealedKey = yield Receive("controller", SealedKey)
        aes_key = self._ring.open(sealing, sealed, "comp", AES_KEY)
        mask_key, coin_key = yield from self._owners_keys(sealing)
        arms = yield from self._first_pulls(
            terms, Draws(Prf(self._own_key, self._indices), Prf(coin_key))
        )
        return Memory(terms, self._own_key, coin_key, mask_key, aes_key, arms, terms.k + 1)

    def _owners_keys(self, sealing: SealingKey) -> Steps[tuple[bytes, bytes]]:
        """The mask key and the coin key: the first owner seals them to the others."""
        if self._ring.identity.name == self._first_owner:
            mask_key, coin_key = new_key(), self._coin_key
            offers: Offers = yield Receive("controller", Offers)
            keys = [
                self._ring.seal(mask_key + coin_key, offer, OWNERS_KEYS) for offer in offers.offers
            ]
            yield Send("controller", SealedKeys(keys))
            return mask_key, coin_key
        sealed: SealedKey = yield Receive("controller", SealedKey)
        both = self._ring.open(sealing, sealed, self._first_owner, OWNERS_KEYS)
        return both[:KEY_BYTES], both[KEY_BYTES:]

    def _first_pulls(self, terms: Terms, draws: Draws) -> Steps[ArmSnapshot]:
        """Pull each arm once."""
        arms = ArmStates(len(self._indices), terms.k)
        self._policy.start(arms)
        to_fixed = RewardScale(terms.low, terms.high).to_fixed
        for i, arm in enumerate(self._indices):
            reward: float = yield Pull(self._decision(arm + 1, arm))
            self._policy.learn(arms, i, to_fixed(reward), draws.at(arm + 1, 0))
        return arms.snapshot()

    def _core(self, memory: Memory, arms: ArmStates) -> Steps[None]:
        policy, terms = self._policy, memory.terms
        aead = self._aead = Aead(memory.aes_key, sealed=memory.sealed)
        draws = Draws(
            Prf(memory.own_key, self._indices, ahead=ROUNDS_AHEAD),
            Prf(memory.coin_key, ahead=ROUNDS_AHEAD),
        )
        mask, bindings = Mask(memory.mask_key), Bindings(terms.run)
        answer = self._by_bits if terms.selection == "bits" else self._by_position
        to_fixed = RewardScale(terms.low, terms.high).to_fixed
        watches = observes(policy)

        def snapshot() -> bytes:
            memory.sealed, memory.arms = aead.sealed, arms.snapshot()
            return msgspec.msgpack.encode(memory)

        checkpoint = Checkpoint(snapshot)
        for t in range(memory.t, terms.budget + 1):
            memory.t = t
            yield checkpoint
            for l in range(1, policy.iterations + 1):
                place = place_of(t, l)
                draws.at(t, l)
                scores = to_scores(policy.score(arms, t, l, draws))
                masked = mask.apply(scores, draws.ties(), t, l)
                sealed = aead.seal(masked, bindings.to_comp(place))
                yield Send("controller", MaskedScores(place, sealed))  # step 2
                selected = yield from answer(aead, place, bindings.to_owner(place))  # step 5
                if watches:
                    policy.observe(arms, t, l, np.arange(len(arms)) == selected)
            if selected is not None:
                reward: float = yield Pull(self._decision(t, self._indices[selected]))
                policy.learn(arms, selected, to_fixed(reward), draws.at(t, 0))

    def _by_bits(self, aead: Aead, place: bytes, bound: bytes) -> Steps[int | None]:
        """Which of its arms is selected: the one whose bit is 1."""
        message: PullingBits = yield Receive("controller", PullingBits)
        shape = (len(self._indices), BIT_WIDTH)
        bits = opened(aead, message, place, shape, bound, "controller")
        return bits.index(b"\1") if b"\1" in bits else None

    def _by_position(self, aead: Aead, place: bytes, bound: bytes) -> Steps[int | None]:
        """Which of its arms is selected: the one at the winning position."""
        message: Positions = yield Receive("controller", Positions)
        (winner,) = opened(aead, message, place, (1, POSITION_WIDTH), bound, "controller")
        positions = self._cut_positions(message)
        return positions.index(winner) if winner in positions else None

    def _cut_positions(self, message: Positions) -> tuple[bytes, ...]:
        held = len(self._indices)
        if len(message.positions) != held * POSITION_WIDTH:
            raise ProtocolError(f"controller sent no position for each of {held} arms")
        return fields(held, POSITION_WIDTH)(message.positions)

    def _decision(self, t: int, arm: int) -> Decision:
        run = self._ring.run
        return Decision(run, t, arm, f"{run}/{arm}/{t}")

    def _cumulative_reward(self, terms: Terms, arms: ArmStates) -> Steps[None]:
        key = PublicKey.from_bytes(terms.customer_key, minimum_bits=self._minimum_key_bits)
        sums = [key.encrypt(s).to_bytes() for s in arms.s.tolist()]
        self._encryptions += len(sums)
        yield Send("controller", PartialSums(sums))  # step 6

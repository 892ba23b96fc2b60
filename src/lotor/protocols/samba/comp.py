"""Comp: compares masked scores without knowing whose they are."""

from collections.abc import Mapping

import msgspec

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.aead import Aead
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.plain import selects_maximum
from lotor.protocols.samba import mask
from lotor.protocols.samba.keys import AES_KEY, KeyRing
from lotor.protocols.samba.messages import (
    Offers,
    PermutedBits,
    PermutedScores,
    SealedKeys,
    Setup,
    Terms,
    WinningPosition,
)
from lotor.protocols.samba.wire import (
    POSITION_WIDTH,
    Bindings,
    opened,
    place_of,
)


class Memory(msgspec.Struct):
    """What Comp needs to go on from a round boundary."""

    terms: Terms
    aes_key: bytes
    t: int
    sealed: int = 0


class Comp:
    """Figures 6 (c) and 9 (c)."""

    def __init__(
        self, identity: Identity, run: str, policy: Policy, snapshot: bytes | None = None
    ) -> None:
        self._ring = KeyRing(identity, run)
        self._policy = policy
        self._restored = msgspec.msgpack.decode(snapshot, type=Memory) if snapshot else None
        self._aead: Aead | None = None

    def operations(self) -> Mapping[str, int]:
        aes = self._aead.operations() if self._aead else {}
        return {**aes, **self._ring.operations()}

    def steps(self) -> Steps[None]:
        memory = self._restored or (yield from self._setup())
        yield from self._core(memory)

    def _setup(self) -> Steps[Memory]:
        setup: Setup = yield Receive("controller", Setup)  # step 1
        terms = self._ring.accept(setup, self._policy)
        offers: Offers = yield Receive("controller", Offers)
        aes_key = new_key()
        sealed = [self._ring.seal(aes_key, offer, AES_KEY) for offer in offers.offers]
        yield Send("controller", SealedKeys(sealed))
        return Memory(terms, aes_key, terms.k + 1)

    def _core(self, memory: Memory) -> Steps[None]:
        terms = memory.terms
        aead = self._aead = Aead(memory.aes_key, sealed=memory.sealed)
        bindings = Bindings(terms.run)
        checkpoint = Checkpoint(lambda: msgspec.msgpack.encode(memory))
        for t in range(memory.t, terms.budget + 1):
            memory.t, memory.sealed = t, aead.sealed
            yield checkpoint
            for l in range(1, self._policy.iterations + 1):
                place = place_of(t, l)
                scores: PermutedScores = yield Receive("controller", PermutedScores)  # step 3
                bound = bindings.to_comp(place)
                values = opened(aead, scores, place, (terms.k, mask.WIDTH), bound, "controller")
                winner = self._select(values, t, l)
                if terms.selection == "bits":
                    bits = [b"\0"] * terms.k
                    bits[winner] = b"\1"
                    sealed = aead.seal(bits, bindings.to_owner(place))
                    yield Send("controller", PermutedBits(place, sealed))  # step 4
                else:
                    position = winner.to_bytes(POSITION_WIDTH, "big")
                    sealed = aead.seal([position], bindings.to_owner(place))
                    yield Send("controller", WinningPosition(place, sealed))  # step 4

    def _select(self, values: list[bytes], t: int, l: int) -> int:
        """SelectArm: of equal width and big-endian, the bytes compare like the masked scores."""
        if selects_maximum(self._policy):
            return values.index(max(values))
        return int(self._policy.select([int.from_bytes(value, "big") for value in values], t, l))

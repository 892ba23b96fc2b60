"""Comp: compares masked scores without knowing whose they are."""

from collections.abc import Mapping

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.crypto.aead import Aead
from lotor.crypto.prf import new_key
from lotor.crypto.signing import Identity
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaSetup
from lotor.protocols.samba.paper import mask
from lotor.protocols.samba.paper.messages import PermutedBits, PermutedScores, WinningPosition
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.paper.wire import POSITION_WIDTH, Bindings, opened
from lotor.protocols.samba.wire import place_of

AES_KEY = "AES key"


class SambaPaperCompMemory(SambaMemory, tag="samba/3/comp", kw_only=True):
    terms: SambaPaperTerms | None = None
    aes_key: bytes
    sealed: int = 0


class SambaPaperComp(Party):
    """Figures 6 (c) and 9 (c)."""

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
            SambaPaperCompMemory(
                party=identity.name, run=run, policy=to_text(policy), aes_key=new_key()
            )
            if snapshot is None
            else restored_with(SambaPaperCompMemory, snapshot, identity.name, run, policy)
        )
        self._aead = Aead(self._memory.aes_key, sealed=self._memory.sealed)

    def operations(self) -> Mapping[str, int]:
        return {**self._aead.operations(), **self._ring.operations()}

    def _snapshot(self) -> bytes:
        self._memory.sealed = self._aead.sealed
        return self._memory.dump()

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(self._snapshot)
            memory.terms = yield from self._setup()
            memory.t = memory.terms.first
        yield from self._core(memory.terms)

    def _setup(self) -> Steps[SambaPaperTerms]:
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, SambaPaperTerms, self._policy)
        offers: Offers = yield Receive("controller", Offers)
        keys = dict.fromkeys(terms.owners, self._memory.aes_key)
        yield Send("controller", self._ring.seal(keys, offers, AES_KEY))
        return terms

    def _core(self, terms: SambaPaperTerms) -> Steps[None]:
        memory, aead, bindings = self._memory, self._aead, Bindings(terms.run)
        for t in terms.rounds[memory.t - terms.first :]:
            memory.t = t
            yield Checkpoint(self._snapshot, t)
            for l in range(1, terms.iterations + 1):
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
        if self._policy.selects_maximum:
            return values.index(max(values))
        return self._policy.selected([int.from_bytes(value, "big") for value in values], t, l)

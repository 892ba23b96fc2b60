"""A data owner in the paper's form: its scores are masked, then encrypted for Comp."""

from collections.abc import Mapping, Sequence

from lotor.core.cutting import cutter
from lotor.core.draws import Draws
from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.aead import Aead
from lotor.crypto.paillier import SECURE_BITS
from lotor.crypto.prf import KEY_BYTES, new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.kept_arms import KeptArms
from lotor.protocols.received import public_key_from
from lotor.protocols.samba.owner import SambaOwner, SambaOwnerMemory
from lotor.protocols.samba.paper.comp import AES_KEY
from lotor.protocols.samba.paper.mask import ScoreMask
from lotor.protocols.samba.paper.messages import MaskedScores, PartialSums, Positions, PullingBits
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.paper.totals import packed
from lotor.protocols.samba.paper.wire import BIT_WIDTH, POSITION_WIDTH, Bindings, opened
from lotor.protocols.samba.wire import place_name, place_of


class SambaPaperOwnerMemory(SambaOwnerMemory, tag="samba/3/owner", kw_only=True):
    """`mask_key` is the owners', made by the first of them; `aes_key` is the owners' and Comp's."""

    terms: SambaPaperTerms | None = None
    mask_key: bytes = b""
    aes_key: bytes = b""
    sealed: int = 0


class SambaPaperOwner(SambaOwner[SambaPaperTerms, SambaPaperOwnerMemory]):
    """Figures 6 (a) and 9 (a) as published."""

    terms_kind = SambaPaperTerms
    memory_kind = SambaPaperOwnerMemory

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
        kept: KeptArms | None = None,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        super().__init__(
            identity,
            run,
            policy,
            held=held,
            scale=scale,
            own_key=own_key,
            coin_key=coin_key,
            kept=kept,
            order=order,
            snapshot=snapshot,
        )
        self._minimum_key_bits = minimum_key_bits
        self._encryptions = 0
        self._aead: Aead | None = None
        if snapshot is None:
            self._memory.mask_key = new_key()

    def operations(self) -> Mapping[str, int]:
        aes = self._aead.operations() if self._aead else {}
        return {**aes, "paillier_encryptions": self._encryptions, **super().operations()}

    def _check(self, terms: SambaPaperTerms) -> None:
        super()._check(terms)
        public_key_from(terms.customer_key, self._minimum_key_bits, "customer")

    def _makers(self, terms: SambaPaperTerms) -> Sequence[str]:
        return "comp", terms.first_owner

    def _take_keys(self, terms: SambaPaperTerms, sealing: SealingKey) -> Steps[None]:
        memory = self._memory
        memory.aes_key = yield from self._take_key(sealing, "comp", AES_KEY)
        both = yield from self._share_owners_keys(terms, sealing, memory.mask_key + memory.coin_key)
        memory.mask_key, memory.coin_key = both[:KEY_BYTES], both[KEY_BYTES:]

    def _begin(self, terms: SambaPaperTerms) -> None:
        memory = self._memory
        self._aead = Aead(memory.aes_key, sealed=memory.sealed)
        self._mask, self._bindings = ScoreMask(memory.mask_key), Bindings(terms.run)
        self._answer = self._by_bits if terms.selection == "bits" else self._by_position

    def _snapshot(self) -> bytes:
        if self._aead is not None:
            self._memory.sealed = self._aead.sealed
        return super()._snapshot()

    def _selected(self, t: int, l: int, scores: Sequence[int], draws: Draws) -> Steps[int | None]:
        place, aead = place_of(t, l), self._aead
        assert aead is not None  # noqa: S101 (made by _begin)
        masked = self._mask.apply(scores, draws.ties(), t, l)
        sealed = aead.seal(masked, self._bindings.to_comp(place))
        yield Send("controller", MaskedScores(place, sealed))  # step 2
        return (yield from self._answer(aead, place, self._bindings.to_owner(place)))  # step 5

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

    def _cumulative_reward(
        self, terms: SambaPaperTerms, earned: Sequence[tuple[int, int]]
    ) -> Steps[None]:
        key = public_key_from(terms.customer_key, self._minimum_key_bits, "customer")
        sums = [key.encrypt(packed(s, n)).to_bytes() for s, n in earned]
        self._encryptions += len(sums)
        yield Send("controller", PartialSums(sums))  # step 6

"""Controller: relays, permutes, and adds up what it cannot read."""

from collections.abc import Mapping, Sequence

from lotor.core.cutting import cutter
from lotor.core.effects import BeginRound, Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.paillier import SECURE_BITS, Ciphertext
from lotor.crypto.prf import ROUNDS_AHEAD, Prf, new_key
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.received import ciphertext_from, public_key_from
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import SambaOrder
from lotor.protocols.samba.paper.messages import (
    MaskedScores,
    PartialSums,
    PermutedBits,
    PermutedScores,
    Positions,
    PullingBits,
    SambaTotal,
    WinningPosition,
)
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.paper.wire import (
    POSITION_WIDTH,
    SEALED_BIT,
    SEALED_POSITION,
    SEALED_SCORE,
    expect,
)
from lotor.protocols.samba.relay import hand_out_terms, relay_keys
from lotor.protocols.samba.terms import accepted_terms
from lotor.protocols.samba.wire import place_of


class SambaPaperControllerMemory(SambaMemory, tag="samba/3/controller", kw_only=True):
    terms: SambaPaperTerms | None = None
    permutation_key: bytes


class SambaPaperController(Party):
    """Figures 6 (b) and 9 (b)."""

    def __init__(
        self,
        run: str,
        policy: Policy,
        *,
        minimum_key_bits: int = SECURE_BITS,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._policy = policy
        self._order = order
        self._minimum_key_bits = minimum_key_bits
        self._additions = 0
        self._rerandomisations = 0
        self._memory = (
            SambaPaperControllerMemory(
                party="controller", run=run, policy=to_text(policy), permutation_key=new_key()
            )
            if snapshot is None
            else restored_with(SambaPaperControllerMemory, snapshot, "controller", run, policy)
        )

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_additions": self._additions,
            "paillier_rerandomisations": self._rerandomisations,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None:
            yield Checkpoint(memory.dump)
            memory.terms = yield from self._setup()
            memory.t = memory.terms.first
        yield from self._core(memory.terms)
        yield from self._cumulative_reward(memory.terms)

    def _setup(self) -> Steps[SambaPaperTerms]:
        order: SambaOrder = yield Receive("customer", SambaOrder)  # step 0
        terms = accepted_terms(
            SambaPaperTerms, order.terms, self._order, self._memory.run, self._policy
        )
        public_key_from(terms.customer_key, self._minimum_key_bits, "customer")
        yield from hand_out_terms(order, ("comp", *terms.owners))  # step 1
        first, *others = terms.owners
        yield from relay_keys(terms, {"comp": list(terms.owners), first: others})
        return terms

    def _core(self, terms: SambaPaperTerms) -> Steps[None]:
        memory, k = self._memory, terms.k
        permutations = Prf(memory.permutation_key, range(k), ahead=ROUNDS_AHEAD)
        cut = cutter(k, SEALED_SCORE)
        hand_back = self._bits if terms.selection == "bits" else self._positions
        arms = terms.arms()
        for t in terms.rounds[memory.t - terms.first :]:
            memory.t = t
            yield Checkpoint(memory.dump, t)
            yield BeginRound(t)
            for l in range(1, terms.iterations + 1):
                place = place_of(t, l)
                scores = []
                for owner, held in terms.owners.items():
                    message: MaskedScores = yield Receive(owner, MaskedScores)  # step 2
                    expect(message, place, held * SEALED_SCORE, owner)
                    scores.append(message.sealed)
                sigma = sorted(range(k), key=permutations.integers(0, t, l).__getitem__)
                rows = cut(b"".join(scores))
                permuted = b"".join([rows[i] for i in sigma])
                yield Send("comp", PermutedScores(place, permuted))  # step 3
                yield from hand_back(place, sigma, arms)  # steps 4 and 5

    def _bits(self, place: bytes, sigma: list[int], arms: dict[str, slice]) -> Steps[None]:
        """An encrypted bit for each arm."""
        answer: PermutedBits = yield Receive("comp", PermutedBits)  # step 4
        expect(answer, place, len(sigma) * SEALED_BIT, "comp")
        bits = unpermuted(cutter(len(sigma), SEALED_BIT)(answer.sealed), sigma)
        for owner, own in arms.items():
            yield Send(owner, PullingBits(place, b"".join(bits[own])))  # step 5

    def _positions(self, place: bytes, sigma: list[int], arms: dict[str, slice]) -> Steps[None]:
        """The position form: an owner compares its arms' positions with the winner's."""
        answer: WinningPosition = yield Receive("comp", WinningPosition)  # step 4
        expect(answer, place, SEALED_POSITION, "comp")
        numbers = [j.to_bytes(POSITION_WIDTH, "big") for j in range(len(sigma))]
        positions = unpermuted(numbers, sigma)
        for owner, own in arms.items():
            yield Send(owner, Positions(place, b"".join(positions[own]), answer.sealed))  # step 5

    def _cumulative_reward(self, terms: SambaPaperTerms) -> Steps[None]:
        key = public_key_from(terms.customer_key, self._minimum_key_bits, "customer")
        sums: list[Ciphertext] = []
        for owner, held in terms.owners.items():
            message: PartialSums = yield Receive(owner, PartialSums)  # step 6
            if len(message.sums) != held:
                raise ProtocolError(f"{owner} sent {len(message.sums)} sums for {held} arms")
            sums += [ciphertext_from(data, key, owner) for data in message.sums]
        total, *others = sums
        for partial in others:
            total = total + partial
        self._additions += len(others)
        self._rerandomisations += (
            1  # by to_bytes, since a received ciphertext or a sum is not fresh
        )
        yield Send("customer", SambaTotal(total.to_bytes()))  # step 7


def unpermuted(permuted: Sequence[bytes], sigma: list[int]) -> list[bytes]:
    """sigma^-1: permuted[j] belongs to arm sigma[j]."""
    arms = [b""] * len(sigma)
    for i, row in zip(sigma, permuted, strict=True):
        arms[i] = row
    return arms

"""Controller: relays, permutes, and adds up what it cannot read."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import msgspec

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.aead import fields
from lotor.crypto.paillier import SECURE_BITS, Ciphertext, PublicKey
from lotor.crypto.prf import ROUNDS_AHEAD, Prf, new_key
from lotor.policies import Policy
from lotor.protocols.samba.keys import received_ciphertext
from lotor.protocols.samba.messages import (
    MaskedScores,
    Offer,
    Offers,
    Order,
    PartialSums,
    PermutedBits,
    PermutedScores,
    Positions,
    PullingBits,
    SealedKeys,
    Setup,
    SignedOffer,
    Terms,
    Total,
    WinningPosition,
)
from lotor.protocols.samba.wire import (
    POSITION_WIDTH,
    SEALED_BIT,
    SEALED_POSITION,
    SEALED_SCORE,
    expect,
    place_of,
)


class Memory(msgspec.Struct):
    """What Controller needs to go on from a round boundary."""

    terms: Terms
    permutation_key: bytes
    t: int


class Controller:
    """Figures 6 (b) and 9 (b). `holdings`: how many arms each owner has, in the order of arms."""

    def __init__(
        self,
        policy: Policy,
        holdings: Mapping[str, int],
        *,
        minimum_key_bits: int = SECURE_BITS,
        snapshot: bytes | None = None,
    ) -> None:
        self._policy = policy
        self._holdings = dict(holdings)
        self._k = sum(holdings.values())
        ends = list(accumulate(holdings.values()))
        starts = [0, *ends[:-1]]
        self._arms = dict(zip(holdings, map(slice, starts, ends), strict=True))
        self._minimum_key_bits = minimum_key_bits
        self._additions = 0
        self._rerandomisations = 0
        self._restored = msgspec.msgpack.decode(snapshot, type=Memory) if snapshot else None

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_additions": self._additions,
            "paillier_rerandomisations": self._rerandomisations,
        }

    def steps(self) -> Steps[None]:
        memory = self._restored or (yield from self._setup())
        yield from self._core(memory)
        yield from self._cumulative_reward(memory.terms)

    def _setup(self) -> Steps[Memory]:
        order: Order = yield Receive("customer", Order)  # step 0
        terms = order.terms
        if terms.k != self._k or set(order.signatures) != {"comp", *self._holdings}:
            raise ProtocolError(
                f"customer ordered a run over {terms.k} arms, but the owners hold {self._k}: "
                "order it again with the owners of this federation"
            )
        yield Send("comp", Setup(terms, order.signatures["comp"]))  # step 1
        for owner in self._holdings:
            yield Send(owner, Setup(terms, order.signatures[owner]))  # step 1
        yield from self._relay_keys()
        return Memory(terms, new_key(), terms.k + 1)

    def _relay_keys(self) -> Steps[None]:
        """Pass on the owners' public keys, and what Comp and the first owner seal to them."""
        first, *others = self._holdings
        offers: dict[str, Offer] = {}
        for owner in self._holdings:
            offers[owner] = yield Receive(owner, Offer)
        for maker, owners in (("comp", [first, *others]), (first, others)):
            signed = [
                SignedOffer(
                    owner,
                    offers[owner].public,
                    offers[owner].for_comp if maker == "comp" else offers[owner].for_first_owner,
                )
                for owner in owners
            ]
            yield Send(maker, Offers(signed))
            answer: SealedKeys = yield Receive(maker, SealedKeys)
            if [key.owner for key in answer.keys] != owners:
                raise ProtocolError(f"{maker} sealed keys to others than {', '.join(owners)}")
            for key in answer.keys:
                yield Send(key.owner, key)

    def _core(self, memory: Memory) -> Steps[None]:
        permutations = Prf(memory.permutation_key, range(self._k), ahead=ROUNDS_AHEAD)
        checkpoint = Checkpoint(lambda: msgspec.msgpack.encode(memory))
        cut_scores = fields(self._k, SEALED_SCORE)
        hand_back = self._bits if memory.terms.selection == "bits" else self._positions
        for t in range(memory.t, memory.terms.budget + 1):
            memory.t = t
            yield checkpoint
            for l in range(1, self._policy.iterations + 1):
                place = place_of(t, l)
                scores = []
                for owner, held in self._holdings.items():
                    message: MaskedScores = yield Receive(owner, MaskedScores)  # step 2
                    expect(message, place, held * SEALED_SCORE, owner)
                    scores.append(message.sealed)
                sigma = sorted(range(self._k), key=permutations.integers(0, t, l).__getitem__)
                rows = cut_scores(b"".join(scores))
                permuted = b"".join([rows[i] for i in sigma])
                yield Send("comp", PermutedScores(place, permuted))  # step 3
                yield from hand_back(place, sigma)

    def _bits(self, place: bytes, sigma: list[int]) -> Steps[None]:
        """Steps 4 and 5: an encrypted bit for each arm."""
        answer: PermutedBits = yield Receive("comp", PermutedBits)  # step 4
        expect(answer, place, self._k * SEALED_BIT, "comp")
        bits = self._unpermuted(fields(self._k, SEALED_BIT)(answer.sealed), sigma)
        for owner, arms in self._arms.items():
            yield Send(owner, PullingBits(place, b"".join(bits[arms])))  # step 5

    def _positions(self, place: bytes, sigma: list[int]) -> Steps[None]:
        """Steps 4 and 5 of the position form: an owner compares its positions with the winner's."""
        answer: WinningPosition = yield Receive("comp", WinningPosition)  # step 4
        expect(answer, place, SEALED_POSITION, "comp")
        numbers = [j.to_bytes(POSITION_WIDTH, "big") for j in range(self._k)]
        positions = self._unpermuted(numbers, sigma)
        for owner, arms in self._arms.items():
            own = b"".join(positions[arms])
            yield Send(owner, Positions(place, own, answer.sealed))  # step 5

    def _unpermuted(self, permuted: Sequence[bytes], sigma: list[int]) -> list[bytes]:
        """sigma^-1: permuted[j] belongs to arm sigma[j]."""
        arms = [b""] * self._k
        for i, row in zip(sigma, permuted, strict=True):
            arms[i] = row
        return arms

    def _cumulative_reward(self, terms: Terms) -> Steps[None]:
        key = PublicKey.from_bytes(terms.customer_key, minimum_bits=self._minimum_key_bits)
        sums: list[Ciphertext] = []
        for owner, held in self._holdings.items():
            message: PartialSums = yield Receive(owner, PartialSums)  # step 6
            if len(message.sums) != held:
                raise ProtocolError(f"{owner} sent {len(message.sums)} sums for {held} arms")
            sums += [received_ciphertext(data, key, owner) for data in message.sums]
        total = sums[0]
        for partial in sums[1:]:
            total = total + partial
        self._additions += len(sums) - 1
        self._rerandomisations += 1
        yield Send("customer", Total(total.rerandomise().to_bytes()))  # step 7

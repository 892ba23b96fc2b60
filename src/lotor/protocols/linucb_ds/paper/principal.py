"""P, the principal node: knows the arms and which are pulled, and theta and rewards encrypted only.

The paper's P computes b*, theta-hat* and B* anew in each round. Everything in them but theta is
known to P, so that B_i = <u_i, theta> + c_i with u and c in clear (policies/linear/base.py): one
inner product with the theta* that the owner sent, in the same integers that plain computes with.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from lotor.core.effects import BeginRound, Checkpoint, Receive, Send, Steps
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.paillier import SECURE_BITS, Ciphertext, PackedDotProducts, Randomisers
from lotor.crypto.prf import Prf
from lotor.crypto.workers import Workers
from lotor.protocols.linucb_ds.game import LinearGame, LinearPrincipalMemory
from lotor.protocols.linucb_ds.paper.messages import (
    CompKey,
    LinUCBShape,
    LinUCBTotal,
    MaskedSum,
    Model,
    PackedScores,
    SwitchedSum,
    Winner,
)
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.paper.wire import place_of, position_from
from lotor.protocols.linucb_ds.principal import LinearPrincipal
from lotor.protocols.linucb_ds.relay import hand_out_terms, take_order
from lotor.protocols.received import ciphertext_from, public_key_from

MASK = "linear mask"
MASK_BITS = 128
"""How much longer rand is than s: what Comp sees of s + rand tells 2^-128 about s."""

POOL_DEPTH = 64


class LinUCBPrincipalMemory(LinearPrincipalMemory, tag="linucb-ds/2/principal", kw_only=True):
    """Nothing here decrypts anything."""

    terms: LinUCBPaperTerms | None = None
    comp_key: bytes = b""
    model: Model | None = None


class LinUCBPrincipal(LinearPrincipal[LinUCBPrincipalMemory]):
    """Figure 4 (a)."""

    memory_kind = LinUCBPrincipalMemory
    own_keys = (MASK,)

    def __init__(
        self,
        run: str,
        *,
        minimum_key_bits: int = SECURE_BITS,
        workers: int = 1,
        **given: Any,
    ) -> None:
        super().__init__(run, **given)
        self._minimum_bits = minimum_key_bits
        self._workers = workers
        self._products = self._randomised = 0

    def operations(self) -> Mapping[str, int]:
        return {
            "paillier_products": self._products,
            "paillier_rerandomisations": self._randomised,
        }

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.model is None:
            yield Checkpoint(memory.dump)
            yield from self._setup()
        self.game = game = EncryptedGame(memory, self._noise, self._first, self._minimum_bits)
        if memory.t == 0:
            yield from game.begin()  # step 2
        with ExitStack() as stack:
            workers = stack.enter_context(Workers(self._workers))
            try:
                yield from self._rounds(game, workers, stack)
            finally:
                self.cpu_elsewhere += workers.cpu_seconds
        yield from self._switch_keys(game)
        self._keep(game)

    def _setup(self) -> Steps[None]:
        memory = self._memory
        parties = ("comp", "owner")
        terms, order = yield from take_order(LinUCBPaperTerms, memory.run, self._order, parties)
        public_key_from(terms.customer_key, self._minimum_bits, "customer")
        yield from hand_out_terms(order, parties)
        key: CompKey = yield Receive("comp", CompKey)
        yield Send("owner", key)
        model: Model = yield Receive("owner", Model)
        comp = public_key_from(key.public, self._minimum_bits, "comp")
        model.check(len(model.theta))
        for data in model.theta:
            ciphertext_from(data, comp, "owner")
        yield Send("comp", LinUCBShape(model.k))
        memory.terms, memory.comp_key, memory.model = terms, key.public, model

    def _rounds(self, game: "EncryptedGame", workers: Workers, stack: ExitStack) -> Steps[None]:
        memory, layout, end = self._memory, game.layout, game.terms.places
        products = PackedDotProducts(
            game.theta,
            layout.k,
            rounds=end - memory.t,
            slot_bits=layout.slot_bits,
            u_bits=layout.u_bits,
            workers=workers,
        )
        stack.callback(products.close)
        uses = (end - memory.t) * products.layout.ciphertexts
        randomisers = Randomisers(game.key, uses=uses, depth=min(uses, POOL_DEPTH))
        stack.callback(self._count, randomisers)  # when it is closed
        stack.enter_context(randomisers)
        for t in range(memory.t, end):
            yield Checkpoint(game.snapshot, game.round(t))
            yield BeginRound(game.round(t + 1))
            sigma, u, addends = game.rows(t)
            packed = products.compute(u, addends, randomisers)
            self._products += products.products_per_round
            self._randomised += products.layout.ciphertexts
            yield Send("comp", PackedScores(place_of(t), packed))  # step 3
            answer: Winner = yield Receive("comp", Winner)  # step 4
            if answer.t != place_of(t):
                raise ProtocolError(f"comp named the winner of a round other than {t}")
            arm = int(sigma[position_from(answer.position, layout.k, t)])
            yield from game.pull(t + 1, arm)

    def _count(self, randomisers: Randomisers) -> None:
        self.cpu_elsewhere += randomisers.cpu_seconds

    def _switch_keys(self, game: "EncryptedGame") -> Steps[None]:
        yield Checkpoint(game.snapshot, game.round(self._memory.t))
        rand = game.mask()
        masked = game.encrypted_sum() + rand
        self._randomised += 2
        yield Send("comp", MaskedSum(masked.to_bytes()))  # step 5
        reply: SwitchedSum = yield Receive("comp", SwitchedSum)  # step 6
        customer = public_key_from(game.terms.customer_key, self._minimum_bits, "customer")
        total = ciphertext_from(reply.switched, customer, "comp") - rand
        layout = game.layout
        yield Send(
            "customer", LinUCBTotal(total.to_bytes(), layout.L, layout.k, layout.d)
        )  # step 7


class EncryptedGame(LinearGame):
    """With theta*, and what is computed with it at the end."""

    terms: LinUCBPaperTerms

    def __init__(
        self,
        memory: LinUCBPrincipalMemory,
        noise: Floats | None,
        first: int | None,
        minimum_bits: int,
    ) -> None:
        super().__init__(memory, noise, first)
        self._mask_key = memory.keys[MASK]
        self.key = public_key_from(memory.comp_key, minimum_bits, "comp")
        customer = public_key_from(self.terms.customer_key, minimum_bits, "customer")
        self._check_room(min(self.key.bits, customer.bits))
        sent = [] if memory.model is None else memory.model.theta
        self.theta = [ciphertext_from(data, self.key, "owner") for data in sent]

    def _check_room(self, bits: int) -> None:
        """s + rand must not wrap around: it stays below 2^(|s| + 129), and n/2 is 2^(bits - 2)."""
        needed = self.layout.largest_total(self.terms.budget).bit_length() + MASK_BITS + 3
        if bits < needed:
            raise InputError(
                f"a sum of {self.terms.budget} rewards and its mask need {needed} bits, and the "
                f"smaller Paillier key has {bits}: use larger keys"
            )

    def mask(self) -> int:
        """rand: a function of P's own key, so that after a crash it is still the same one."""
        bits = self.layout.largest_total(self.terms.budget).bit_length() + MASK_BITS
        blocks = Prf(self._mask_key, range(-(-bits // 128))).blocks(0, 0, 0)
        return int.from_bytes(blocks, "big") >> (8 * len(blocks) - bits)

    def encrypted_sum(self) -> Ciphertext:
        """s* = EDP(theta*, the sum of the pulled arms) · E(the sum of their noise)."""
        total = self.theta[0] * self.rewards.arms[0]
        for theta, factor in zip(self.theta[1:], self.rewards.arms[1:], strict=True):
            total = total + theta * factor
        return total + self.rewards.noise

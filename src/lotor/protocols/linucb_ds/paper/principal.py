"""P, the principal node: knows the arms and which are pulled, and theta and rewards encrypted only.

The paper's P computes b*, theta-hat* and B* anew in each round. Everything in them but theta is
known to P, so that B_i = <u_i, theta> + c_i with u and c in clear (policies/linear/base.py): one
inner product with the theta* that the owner sent, in the same integers that plain computes with.
"""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from lotor.core.effects import BeginRound, Checkpoint, Message, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.paillier import SECURE_BITS, Ciphertext, PublicKey, Randomisers
from lotor.crypto.workers import Workers
from lotor.protocols.linucb_ds.messages import ArmCatalogue
from lotor.protocols.linucb_ds.paper.game import (
    MASK,
    EncryptedGame,
    KeyedGame,
    KeyedPrincipalMemory,
    LinUCBPrincipalMemory,
)
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

POOL_DEPTH = 64

M = TypeVar("M", bound=KeyedPrincipalMemory)
G = TypeVar("G", bound=KeyedGame)
C = TypeVar("C", bound=ArmCatalogue)


class KeyedPrincipal(LinearPrincipal[M], Generic[M, G, C]):
    """Figure 4 (a), whatever is encrypted: theta once, or rewards one by one."""

    own_keys = (MASK,)
    terms_kind: type[LinUCBPaperTerms]
    model_kind: type[C]
    game_kind: type[G]

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

    @abstractmethod
    def _check_model(self, model: C, comp: PublicKey) -> None:
        """Refuse a malformed model before anything is computed."""

    @abstractmethod
    def _total(self, game: G, total: Ciphertext) -> Message:
        """The sum, for the customer."""

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.model is None:
            yield Checkpoint(memory.dump)
            yield from self._setup()
        self.game = game = self.game_kind(memory, self._noise, self._first, self._minimum_bits)
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
        terms, order = yield from take_order(self.terms_kind, memory.run, self._order, parties)
        public_key_from(terms.customer_key, self._minimum_bits, "customer")
        yield from hand_out_terms(order, parties)
        key: CompKey = yield Receive("comp", CompKey)
        yield Send("owner", key)
        model: C = yield Receive("owner", self.model_kind)
        self._check_model(model, public_key_from(key.public, self._minimum_bits, "comp"))
        yield Send("comp", LinUCBShape(model.k))
        memory.terms, memory.comp_key, memory.model = terms, key.public, model

    def _rounds(self, game: G, workers: Workers, stack: ExitStack) -> Steps[None]:
        memory, k, end = self._memory, game.layout.k, game.terms.places
        products = game.products(workers)
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
            arm = int(sigma[position_from(answer.position, k, t)])
            yield from game.pull(t + 1, arm)

    def _count(self, randomisers: Randomisers) -> None:
        self.cpu_elsewhere += randomisers.cpu_seconds

    def _switch_keys(self, game: G) -> Steps[None]:
        yield Checkpoint(game.snapshot, game.round(self._memory.t))
        rand = game.mask()
        masked = game.encrypted_sum() + rand
        self._randomised += 2
        yield Send("comp", MaskedSum(masked.to_bytes()))  # step 5
        reply: SwitchedSum = yield Receive("comp", SwitchedSum)  # step 6
        customer = public_key_from(game.terms.customer_key, self._minimum_bits, "customer")
        total = ciphertext_from(reply.switched, customer, "comp") - rand
        yield Send("customer", self._total(game, total))  # step 7


class LinUCBPrincipal(KeyedPrincipal[LinUCBPrincipalMemory, EncryptedGame, Model]):
    """With the theta* that the owner sent."""

    memory_kind = LinUCBPrincipalMemory
    terms_kind = LinUCBPaperTerms
    model_kind = Model
    game_kind = EncryptedGame

    def _check_model(self, model: Model, comp: PublicKey) -> None:
        model.check(len(model.theta))
        for data in model.theta:
            ciphertext_from(data, comp, "owner")

    def _total(self, game: EncryptedGame, total: Ciphertext) -> LinUCBTotal:
        layout = game.layout
        return LinUCBTotal(total.to_bytes(), layout.L, layout.k, layout.d)

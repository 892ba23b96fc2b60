"""P, the principal node: knows the arms and which are pulled, and theta and rewards encrypted only.

The paper's P computes b*, theta-hat* and B* anew in each round. Everything in them but theta is
known to P, so that B_i = <u_i, theta> + c_i with u and c in clear (policies/linear/base.py): one
inner product with the theta* that the owner sent, in the same integers that plain computes with.
"""

from collections.abc import Mapping
from contextlib import ExitStack

import numpy as np

from lotor.core.effects import Checkpoint, Decided, Decision, Receive, Send, Steps
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import LARGEST_COORDINATE, largest_norm
from lotor.crypto.paillier import (
    SECURE_BITS,
    Ciphertext,
    PackedDotProducts,
    PublicKey,
    Randomisers,
)
from lotor.crypto.prf import Prf, new_key
from lotor.crypto.workers import Workers
from lotor.policies.linear import Layout, LinearModel, ModelSnapshot, RewardSum
from lotor.protocols.linear_draws import FIRST, NOISE, TIES, LinearDraws
from lotor.protocols.linucb_ds.paper.messages import (
    CompKey,
    LinUCBOrder,
    LinUCBSetup,
    LinUCBShape,
    LinUCBTotal,
    MaskedSum,
    Model,
    PackedScores,
    SwitchedSum,
    Winner,
)
from lotor.protocols.linucb_ds.paper.terms import MOST_ARMS, LinUCBTerms, terms_from
from lotor.protocols.linucb_ds.paper.wire import place_of, position_from
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.received import check_announced, ciphertext_from, public_key_from

MASK = "linear mask"
MASK_BITS = 128
"""How much longer rand is than s: what Comp sees of s + rand tells 2^-128 about s."""

POOL_DEPTH = 64


class LinUCBPrincipalMemory(Memory, tag="linucb-ds/1/principal"):
    """P's own draws, what it was sent, and the sums so far. Nothing here decrypts anything."""

    keys: dict[str, bytes]
    terms: LinUCBTerms | None = None
    comp_key: bytes = b""
    model: Model | None = None
    state: ModelSnapshot | None = None
    arms: tuple[str, ...] = ()
    noise: str = "0"


class LinUCBPrincipal(Party):
    """Figure 4 (a).

    A simulation gives `keys` (the first arm, ties and noise), `noise` and `first`; elsewhere P
    draws them itself.
    """

    def __init__(
        self,
        run: str,
        *,
        keys: Mapping[str, bytes] | None = None,
        noise: Floats | None = None,
        first: int | None = None,
        minimum_key_bits: int = SECURE_BITS,
        order: bytes | None = None,
        workers: int = 1,
        snapshot: bytes | None = None,
    ) -> None:
        self._noise = noise
        self._first = first
        self._minimum_bits = minimum_key_bits
        self._order = order
        self._workers = workers
        self._products = self._randomised = 0
        drawn = {purpose: new_key() for purpose in (FIRST, TIES, NOISE, MASK)}
        self._memory = (
            LinUCBPrincipalMemory(party="principal", run=run, keys={**drawn, **(keys or {})})
            if snapshot is None
            else restored(LinUCBPrincipalMemory, snapshot, "principal", run)
        )

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
        game = _Game(memory, self._noise, self._first, self._minimum_bits)
        if memory.t == 0:
            yield from self._pull(game, 1, game.draws.first())  # step 2
        with ExitStack() as stack:
            workers = stack.enter_context(Workers(self._workers))
            yield from self._rounds(game, workers, stack)
            self.cpu_elsewhere += workers.cpu_seconds
        yield from self._switch_keys(game)

    def _setup(self) -> Steps[None]:
        memory = self._memory
        order: LinUCBOrder = yield Receive("customer", LinUCBOrder)  # step 1
        check_announced(order.terms, self._order, memory.run)
        terms = terms_from(order.terms)
        terms.check(memory.run)
        public_key_from(terms.customer_key, self._minimum_bits, "customer")
        if set(order.signatures) != {"owner", "comp"}:
            raise ProtocolError("customer did not sign its order for exactly owner and comp")
        for party in ("comp", "owner"):
            yield Send(party, LinUCBSetup(order.terms, order.signatures[party]))
        key: CompKey = yield Receive("comp", CompKey)
        yield Send("owner", key)
        model: Model = yield Receive("owner", Model)
        _check(model, public_key_from(key.public, self._minimum_bits, "comp"))
        yield Send("comp", LinUCBShape(model.k))
        memory.terms, memory.comp_key, memory.model = terms, key.public, model

    def _rounds(self, game: "_Game", workers: Workers, stack: ExitStack) -> Steps[None]:
        memory, layout, budget = self._memory, game.layout, game.terms.budget
        products = PackedDotProducts(
            game.theta,
            layout.k,
            rounds=budget - memory.t,
            slot_bits=layout.slot_bits,
            u_bits=layout.u_bits,
            workers=workers,
        )
        stack.callback(products.close)
        uses = (budget - memory.t) * products.layout.ciphertexts
        randomisers = stack.enter_context(
            Randomisers(game.key, uses=uses, depth=min(uses, POOL_DEPTH))
        )
        for t in range(memory.t, budget):
            yield Checkpoint(game.snapshot, t)
            # A fresh permutation; of equal scores its first wins, as in plain.
            sigma = game.draws.order(t + 1)
            u, c = game.model.coefficients(t)
            addends = layout.addends(c)
            packed = products.compute(
                layout.u(u)[sigma], [addends[i] for i in sigma.tolist()], randomisers
            )
            self._products += products.products_per_round
            self._randomised += products.layout.ciphertexts
            yield Send("comp", PackedScores(place_of(t), packed))  # step 3
            answer: Winner = yield Receive("comp", Winner)  # step 4
            if answer.t != place_of(t):
                raise ProtocolError(f"comp named the winner of a round other than {t}")
            arm = int(sigma[position_from(answer.position, layout.k, t)])
            yield from self._pull(game, t + 1, arm)
        self.cpu_elsewhere = randomisers.cpu_seconds

    def _pull(self, game: "_Game", t: int, arm: int) -> Steps[None]:
        """pull*: the reward <x, theta> + noise is added up in its two parts.

        Rewards that arrive encrypted from outside would be multiplied into b* here.
        """
        yield Decided(Decision.named(self._memory.run, t, arm))
        noise = game.draws.noise(t)
        game.model.update(arm, noise)
        game.rewards.add(arm, noise)
        self._memory.t = t

    def _switch_keys(self, game: "_Game") -> Steps[None]:
        yield Checkpoint(game.snapshot, self._memory.t)
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


class _Game:
    """What P computes with, made from its memory."""

    def __init__(
        self,
        memory: LinUCBPrincipalMemory,
        noise: Floats | None,
        first: int | None,
        minimum_bits: int,
    ) -> None:
        if memory.terms is None or memory.model is None:
            raise InputError("P has no model yet: set it up first")
        self._memory = memory
        self.terms = memory.terms
        model = memory.model
        vectors = np.frombuffer(model.vectors, "<f8").reshape(model.k, model.d).astype(np.float64)
        eigenvalues = (
            np.frombuffer(model.eigenvalues, "<f8").astype(np.float64)
            if model.eigenvalues
            else None
        )
        policy = self.terms.check(memory.run)
        try:
            self.layout = Layout(
                L=largest_norm(vectors),
                S=policy.bound,
                k=model.k,
                d=model.d,
                slot_bits=self.terms.slot_bits,
            )
            self.model: LinearModel = policy.start(
                vectors, budget=self.terms.budget, eigenvalues=eigenvalues
            )
        except InputError as error:
            raise ProtocolError(
                f"owner sent a model that does not fit the order: {error}"
            ) from None
        self.key = public_key_from(memory.comp_key, minimum_bits, "comp")
        customer = public_key_from(self.terms.customer_key, minimum_bits, "customer")
        self._check_room(min(self.key.bits, customer.bits))
        self.theta = [ciphertext_from(data, self.key, "owner") for data in model.theta]
        self.draws = LinearDraws(
            memory.keys, model.k, noise_sd=model.noise_sd, noise=noise, first=first
        )
        self.rewards = RewardSum(self.layout, vectors)
        if memory.state is not None:
            self.model.restore(memory.state)
            self.rewards.arms = [int(value) for value in memory.arms]
            self.rewards.noise = int(memory.noise)

    def _check_room(self, bits: int) -> None:
        """s + rand must not wrap around: it stays below 2^(|s| + 129), and n/2 is 2^(bits - 2)."""
        needed = self.layout.largest_total(self.terms.budget).bit_length() + MASK_BITS + 3
        if bits < needed:
            raise InputError(
                f"a sum of {self.terms.budget} rewards and its mask need {needed} bits, and the "
                f"smaller Paillier key has {bits}: use larger keys"
            )

    def snapshot(self) -> bytes:
        memory = self._memory
        memory.state = self.model.snapshot()
        # It may exceed 64 bits, the largest integers of msgpack.
        memory.arms = tuple(str(value) for value in self.rewards.arms)
        memory.noise = str(self.rewards.noise)
        return memory.dump()

    def mask(self) -> int:
        """rand: a function of P's own key, so that after a crash it is still the same one."""
        bits = self.layout.largest_total(self.terms.budget).bit_length() + MASK_BITS
        blocks = Prf(self._memory.keys[MASK], range(-(-bits // 128))).blocks(0, 0, 0)
        return int.from_bytes(blocks, "big") >> (8 * len(blocks) - bits)

    def encrypted_sum(self) -> Ciphertext:
        """s* = EDP(theta*, the sum of the pulled arms) · E(the sum of their noise)."""
        total = self.theta[0] * self.rewards.arms[0]
        for theta, factor in zip(self.theta[1:], self.rewards.arms[1:], strict=True):
            total = total + theta * factor
        return total + self.rewards.noise


def _check(model: Model, key: PublicKey) -> None:
    """Refuse a malformed model before anything is computed with it."""
    sizes = (len(model.vectors), len(model.theta), len(model.eigenvalues))
    if (
        not (2 <= model.k < MOST_ARMS and 1 <= model.d < 1 << 20)
        or sizes[:2] != (8 * model.k * model.d, model.d)
        or sizes[2] not in (0, 8 * model.d)
        or not _usable(model.vectors)
        or not _usable(model.eigenvalues)
        or not 0 <= model.noise_sd < 2.0**64
    ):
        raise ProtocolError(
            f"owner sent a malformed model of {model.k} arms in {model.d} dimensions: its data is "
            "damaged, or it runs another version"
        )
    for data in model.theta:
        ciphertext_from(data, key, "owner")


def _usable(numbers: bytes) -> bool:
    # nan fails the comparison too.
    return bool(np.all(np.abs(np.frombuffer(numbers, "<f8")) <= LARGEST_COORDINATE))

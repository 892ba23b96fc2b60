"""What P plays with live rewards: it adds them up under Comp's key.

The paper's b* is the sum of the pulled arms, each times its encrypted reward. P knows the arms, so
that b_j* <- b_j* · E(e)^(X_j), and B_i = <u_i, b> + c_i with u_i = A^-1 x_i in clear: the integers
are those of policies/linear/live_layout.py.
"""

from collections.abc import Sequence

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.paillier import Ciphertext, PackedDotProducts, PackedLayout
from lotor.crypto.paillier.public import RandomiserSource
from lotor.crypto.workers import Workers
from lotor.policies.linear import LinearPolicy, LiveLayout
from lotor.policies.linear.layout import Integers
from lotor.protocols.linucb_ds.live.messages import ChosenArm, EncryptedReward, LiveCatalogue
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.game import KeyedGame, KeyedPrincipalMemory
from lotor.protocols.linucb_ds.paper.wire import place_of, position_of
from lotor.protocols.received import ciphertext_from


class LivePrincipalMemory(KeyedPrincipalMemory, tag="linucb-ds-live/1/principal", kw_only=True):
    """With b* and s*, both under Comp's key."""

    terms: LiveTerms | None = None
    model: LiveCatalogue | None = None
    learnt: tuple[bytes, ...] = ()
    total: bytes = b""


class LiveProducts:
    """Scores of sums that change in each round, so that no powers of them can be prepared."""

    def __init__(self, game: "LiveGame") -> None:
        layout = game.layout
        self._game = game
        self.layout = PackedLayout(game.key.bits, layout.k, layout.slot_bits)
        self._last = 0

    @property
    def products_per_round(self) -> int:
        """Of the last round, without preparing powers."""
        return self._last

    def compute(self, u: Integers, c: Sequence[int], randomisers: RandomiserSource | None) -> bytes:
        """The packed message; see PackedDotProducts."""
        layout = self._game.layout
        products = PackedDotProducts(
            self._game.learnt,
            layout.k,
            rounds=1,
            slot_bits=layout.slot_bits,
            u_bits=layout.u_bits,
        )
        self._last = products.products_per_round
        return products.compute(u, c, randomisers)

    def close(self) -> None:
        """Nothing is kept."""


class LiveGame(KeyedGame):
    """With b* and s*; the owner carries out what is chosen."""

    terms: LiveTerms
    layout: LiveLayout

    def __init__(
        self,
        memory: LivePrincipalMemory,
        noise: Floats | None,  # noqa: ARG002 (the world's own)
        first: int | None,
        minimum_bits: int,
    ) -> None:
        super().__init__(memory, None, first, minimum_bits)
        self._live = memory
        self._arms = self.layout.arms()
        if memory.total:
            self.learnt = [ciphertext_from(data, self.key, "principal") for data in memory.learnt]
            self.total = ciphertext_from(memory.total, self.key, "principal")
        else:
            self.total = self.key.encrypt(0)
            self.learnt = [self.key.encrypt(0) for _ in range(self.layout.d)]

    def _prepare(self, policy: LinearPolicy, vectors: Floats, eigenvalues: Floats | None) -> None:
        budget = self.terms.budget
        self.model = policy.start(vectors, budget=budget, eigenvalues=eigenvalues)
        self.layout = LiveLayout(vectors, self.model.least_penalty, self.terms.scale, budget)

    def _remember(self) -> None:
        self._live.learnt = tuple(one.to_bytes() for one in self.learnt)
        self._live.total = self.total.to_bytes()

    def numbers(self, t: int) -> tuple[Integers, list[int]]:
        u, c = self.model.live_coefficients(t, self.draws.normals)
        return self.layout.u(u), self.layout.addends(c)

    def pull(self, t: int, arm: int) -> Steps[None]:
        """The owner pulls the arm, and its encrypted reward is multiplied into s* and b*."""
        yield Send("owner", ChosenArm(place_of(t), position_of(arm)))
        message: EncryptedReward = yield Receive("owner", EncryptedReward)
        if message.t != place_of(t):
            raise ProtocolError(f"owner sent the reward of a round other than {t}")
        reward = ciphertext_from(message.reward, self.key, "owner")
        self.total = self.total + reward
        self.learnt = [
            one + reward * x for one, x in zip(self.learnt, self._arms[arm], strict=True)
        ]
        self._count(t, arm, self.layout.middle)

    def products(self, workers: Workers) -> LiveProducts:  # noqa: ARG002
        # Processes would have to be told new powers in every round.
        return LiveProducts(self)

    def encrypted_sum(self) -> Ciphertext:
        return self.total

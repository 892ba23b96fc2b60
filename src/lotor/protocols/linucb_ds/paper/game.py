"""What P plays where secrets are under Comp's key: with the means to compute with them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.crypto.paillier import Ciphertext, PackedDotProducts, PackedLayout
from lotor.crypto.paillier.public import RandomiserSource
from lotor.crypto.prf import Prf
from lotor.crypto.workers import Workers
from lotor.policies.linear import Layout, LiveLayout
from lotor.policies.linear.layout import Integers
from lotor.protocols.linucb_ds.game import LinearGame, LinearPrincipalMemory, PrincipalGame
from lotor.protocols.linucb_ds.paper.messages import Model
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.received import ciphertext_from, public_key_from

MASK = "linear mask"
MASK_BITS = 128
"""How much longer rand is than s: what Comp sees of s + rand tells 2^-128 about s."""

AnyLayout: TypeAlias = Layout | LiveLayout


class Products(Protocol):
    """What computes the scores of a round under Comp's key; see PackedDotProducts."""

    layout: PackedLayout

    @property
    def products_per_round(self) -> int: ...

    def compute(
        self, u: Integers, c: Sequence[int], randomisers: RandomiserSource | None
    ) -> bytes: ...

    def close(self) -> None: ...


class KeyedPrincipalMemory(LinearPrincipalMemory, kw_only=True):
    """Nothing here decrypts anything."""

    terms: LinUCBPaperTerms | None = None
    comp_key: bytes = b""


class LinUCBPrincipalMemory(KeyedPrincipalMemory, tag="linucb-ds/2/principal", kw_only=True):
    """With theta*."""

    model: Model | None = None


class KeyedGame(PrincipalGame):
    """With Comp's key, and the mask of the sum."""

    terms: LinUCBPaperTerms
    layout: AnyLayout

    def __init__(
        self,
        memory: KeyedPrincipalMemory,
        noise: Floats | None,
        first: int | None,
        minimum_bits: int,
    ) -> None:
        super().__init__(memory, noise, first)
        self._mask_key = memory.keys[MASK]
        self.key = public_key_from(memory.comp_key, minimum_bits, "comp")
        customer = public_key_from(self.terms.customer_key, minimum_bits, "customer")
        self._check_room(min(self.key.bits, customer.bits))

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

    @abstractmethod
    def products(self, workers: Workers) -> Products:
        """What computes the scores, now that so many rounds are done."""

    @abstractmethod
    def encrypted_sum(self) -> Ciphertext:
        """s*: the sum of rewards."""


class EncryptedGame(KeyedGame, LinearGame):
    """With theta*, which never changes."""

    layout: Layout

    def __init__(
        self,
        memory: LinUCBPrincipalMemory,
        noise: Floats | None,
        first: int | None,
        minimum_bits: int,
    ) -> None:
        super().__init__(memory, noise, first, minimum_bits)
        sent = [] if memory.model is None else memory.model.theta
        self.theta = [ciphertext_from(data, self.key, "owner") for data in sent]

    def products(self, workers: Workers) -> PackedDotProducts:
        return PackedDotProducts(
            self.theta,
            self.layout.k,
            rounds=self.terms.places - self._memory.t,
            slot_bits=self.layout.slot_bits,
            u_bits=self.layout.u_bits,
            workers=workers,
        )

    def encrypted_sum(self) -> Ciphertext:
        """s* = EDP(theta*, the sum of the pulled arms) · E(the sum of their noise)."""
        total = self.theta[0] * self.rewards.arms[0]
        for theta, factor in zip(self.theta[1:], self.rewards.arms[1:], strict=True):
            total = total + theta * factor
        return total + self.rewards.noise

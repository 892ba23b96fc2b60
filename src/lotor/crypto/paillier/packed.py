"""Many inner products with one encrypted vector at once, several to a ciphertext."""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from gmpy2 import mpz, powmod
from numpy.typing import NDArray

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.paillier.encoding import CIPHERTEXT
from lotor.crypto.paillier.layout import PackedLayout
from lotor.crypto.paillier.powers import TABLE_BYTES, PowerPlan, choose_plan, signed_digits
from lotor.crypto.paillier.public import Ciphertext, RandomiserSource
from lotor.crypto.paillier.randomisers import EXTRA_BITS
from lotor.crypto.workers import Workers

_LARGEST_U_BITS = 48


class PackedDotProducts:
    """<u_i, theta> + c_i for `count` rows u_i in clear and a theta that stays encrypted.

    Row i goes to slot i mod `layout.slots` of ciphertext i // `layout.slots`, which holds the sum
    of 2^(slot_bits·j)·(<u_j, theta> + c_j) over its slots j. The caller makes sure that
    each <u_i, theta> + c_i lies in [0, 2^slot_bits): what leaves its slot spoils the next one.
    `rounds` says about how often `compute` will be called; it decides which powers are prepared.
    """

    def __init__(
        self,
        theta: Sequence[Ciphertext],
        count: int,
        *,
        rounds: int = 1000,
        slot_bits: int = 64,
        u_bits: int = 32,
        workers: Workers | None = None,
        table_bytes: int = TABLE_BYTES,
    ) -> None:
        if not theta:
            raise InputError("theta is empty: pass at least one ciphertext")
        if not 2 <= u_bits <= min(_LARGEST_U_BITS, slot_bits):
            raise InputError(f"u_bits={u_bits}: a row's numbers have 2 to {_LARGEST_U_BITS} bits")
        self.public_key = theta[0].public_key
        for ciphertext in theta:
            self.public_key._check_same(ciphertext.public_key)
        self.layout = PackedLayout(self.public_key.bits, count, slot_bits)
        self.dimension, self.u_bits = len(theta), u_bits
        workers = workers or Workers(1)
        before = time.thread_time(), workers.cpu_seconds
        self._cuts = self._cut(workers.count)
        largest = max(last - first for first, last in self._cuts)
        self.plan = choose_plan(
            largest,
            u_bits,
            rounds * self.layout.ciphertexts,
            self.public_key.n_squared,
            table_bytes // len(self._cuts),
        )
        first, *others = self._setups(theta)
        self._processes = workers.start(DotProductJob, [msgspec.msgpack.encode(s) for s in others])
        self._own: DotProductJob | None = DotProductJob(first)
        self._processes.wait()
        self.setup_seconds = time.thread_time() - before[0] + workers.cpu_seconds - before[1]

    def _cut(self, workers: int) -> list[tuple[int, int]]:
        """The pairs of slot and coordinate for each worker, as even as can be."""
        pairs = self.layout.slots * self.dimension
        shares = min(workers, pairs)
        cuts = [pairs * share // shares for share in range(shares + 1)]
        return list(pairwise(cuts))

    def _setups(self, theta: Sequence[Ciphertext]) -> "list[_DotProductSetup]":
        width = CIPHERTEXT.width(self.public_key.bits)
        values = [ciphertext._value.to_bytes(width, "big") for ciphertext in theta]
        modulus = self.public_key.n_squared.to_bytes(width, "big")
        return [
            _DotProductSetup(modulus, values, self.layout.slot_bits, cut, self.plan)
            for cut in self._cuts
        ]

    def compute(
        self,
        u: NDArray[np.int64],
        c: Sequence[int] | NDArray[np.uint64],
        randomisers: RandomiserSource | None = None,
    ) -> bytes:
        """The packed message, every ciphertext fresh; `layout.read` reads it."""
        key, layout = self.public_key, self.layout
        digits = self._digits(u)
        addends = layout.pack(c)
        answers = self._products(digits)
        width = CIPHERTEXT.width(key.bits)
        numbers = []
        for place, addend in enumerate(addends):
            value = (1 + addend * key.n) * key._mask(randomisers) % key.n_squared
            for answer in answers:
                factor = mpz.from_bytes(answer[place * width : (place + 1) * width], "big")
                value = value * factor % key.n_squared
            numbers.append(value.to_bytes(width, "big"))
        return layout.message(key, numbers)

    def _digits(self, u: NDArray[np.int64]) -> NDArray[np.int16]:
        shape = (self.layout.count, self.dimension)
        if u.shape != shape or u.dtype != np.int64:
            raise InputError(
                f"u is {u.dtype} of shape {u.shape} and int64 of shape {shape} is needed: one row "
                "for each number, one column for each coordinate of theta"
            )
        bound = 1 << (self.u_bits - 1)
        if u.min() < -bound or u.max() >= bound:
            raise InputError(
                f"a number of u lies outside the {self.u_bits} signed bits that it may have: scale "
                "u down, or pass u_bits"
            )
        return signed_digits(u, self.u_bits, self.plan.window)

    def _products(self, digits: NDArray[np.int16]) -> list[bytes]:
        """Each worker's products of powers, this one's first."""
        own = self._own
        if own is None:
            raise CryptoError("these inner products are closed: make new ones from theta")
        rows = [digits[first:last].reshape(-1) for first, last in self.layout.ranges()]
        places = self.plan.digits
        request, *others = (
            msgspec.msgpack.encode([row[first * places : last * places].tobytes() for row in rows])
            for first, last in self._cuts
        )
        product, products = self._processes.ask(others, lambda: own.answer(request))
        return [product, *products]

    def close(self) -> None:
        """Free the tables and end the processes that hold some; the `Workers` stay usable."""
        self._own = None
        self._processes.close()

    @property
    def products_per_round(self) -> int:
        """The modular products of one `compute`, without the randomisers."""
        pairs = self.layout.count * self.dimension * self.plan.digits
        shares = len(self._cuts)
        return pairs + self.layout.ciphertexts * (shares * (self.plan.extra + 1) + 1)

    @property
    def least_products_per_round(self) -> int:
        """One product for each byte of u and of a randomiser's exponent, and three to combine."""
        exponent = self.public_key.bits + EXTRA_BITS
        pairs = self.layout.count * self.dimension
        return pairs * self.u_bits // 8 + self.layout.ciphertexts * (exponent // 8 + 3)


class _DotProductSetup(msgspec.Struct, frozen=True, array_like=True):
    modulus: bytes
    theta: list[bytes]
    slot_bits: int
    cut: tuple[int, int]
    plan: PowerPlan

    def bases(self) -> Iterator[mpz]:
        """theta_j^(2^(slot_bits·slot)) for each pair of slot and j within the cut."""
        modulus = mpz.from_bytes(self.modulus, "big")
        first, last = self.cut
        dimension = len(self.theta)
        slot = first // dimension
        shift = mpz(1) << self.slot_bits
        start = mpz(1) << (self.slot_bits * slot)
        values = [powmod(mpz.from_bytes(value, "big"), start, modulus) for value in self.theta]
        for pair in range(first, last):
            j = pair % dimension
            if pair // dimension != slot:
                values[j] = powmod(values[j], shift, modulus)
            yield values[j]


class DotProductJob:
    """The part of the inner products that one worker computes: some slots, some coordinates."""

    def __init__(self, setup: _DotProductSetup) -> None:
        self._width = len(setup.modulus)
        modulus = mpz.from_bytes(setup.modulus, "big")
        self._powers = setup.plan.build(setup.bases(), modulus)

    @classmethod
    def from_bytes(cls, data: bytes) -> "DotProductJob":
        return cls(msgspec.msgpack.decode(data, type=_DotProductSetup))

    def answer(self, request: bytes) -> bytes:
        """One product of powers for each ciphertext."""
        digits = msgspec.msgpack.decode(request, type=list[bytes])
        products = (
            self._powers.product(np.frombuffer(row, dtype=np.int16).tolist()) for row in digits
        )
        return b"".join(product.to_bytes(self._width, "big") for product in products)

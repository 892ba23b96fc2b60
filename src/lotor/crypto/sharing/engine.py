"""Where a circuit's correlated randomness comes from, and the gates that use it up.

The same circuit is run by each server, on its shares, and once by the dealer, on nothing: that is
how it learns what to deal (`recipe.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from lotor.core.errors import CryptoError
from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.correlations import (
    BitPair,
    BitWord,
    Contraction,
    Correlation,
    Product,
    UpperOuter,
)
from lotor.crypto.sharing.masked import (
    BitTerm,
    MaskedBits,
    MaskedWords,
    Rearrange,
    Secret,
    Term,
)
from lotor.crypto.sharing.pads import DType, Pads, aligned
from lotor.crypto.sharing.shares import Shared, SharedBits, Tally
from lotor.crypto.sharing.words import Bits, Words

Compute: TypeAlias = Callable[[Sequence[Bits]], Bits]
"""A value that the dealer deals, from those it has drawn and dealt before."""

WORD: DType = np.dtype(np.uint64)
HALF: DType = np.dtype(np.uint32)
SHORT: DType = np.dtype(np.uint16)
BYTE: DType = np.dtype(np.uint8)

RING = 64
"""Bits of the ring that a dealer deals in. Two servers without one may make products of fewer."""

_USED_UP = (
    "the dealer's corrections are used up: no item is ever used twice, and this circuit asks for "
    "more than the recipe that was dealt"
)
_NO_DEALER = (
    "this circuit needs a dealer, and two servers without one run it: use a circuit without what "
    "only a dealer can give"
)


class Engine(ABC):
    """What a circuit asks for; numbers name the secrets in the order of asking."""

    first: bool

    def __init__(self) -> None:
        self._count = 0
        self._conjunctions: dict[tuple[int, int], Secret] = {}
        # By kind, too: tuples of different kinds are equal if their fields are.
        self._correlated: dict[tuple[type[Correlation], Correlation], Secret] = {}

    def _secret(self, share: Bits) -> Secret:
        self._count += 1
        return Secret(share, self._count - 1)

    @abstractmethod
    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        """A random value, which both servers' pads make together."""

    @abstractmethod
    def dealt(self, compute: Compute, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        """Shares of what the dealer computes from earlier secrets."""

    @abstractmethod
    def own(self, shape: tuple[int, ...], dtype: DType) -> Secret:
        """A random value of the first server, of which the second one has no share."""

    @abstractmethod
    def told(self, compute: Compute, shape: tuple[int, ...], dtype: DType) -> Secret:
        """What the dealer computes from earlier secrets and tells the second server alone."""

    @abstractmethod
    def given(self, shape: tuple[int, ...], dtype: DType) -> int:
        """The number of what somebody gave the dealer: see `Recipe.deal`."""

    @abstractmethod
    def rearranged(self, secret: Secret, rearrange: Rearrange) -> Secret:
        """The same values in other places."""

    @abstractmethod
    def renamed(self, number: int, rearrange: Rearrange, shape: tuple[int, ...]) -> int:
        """The same, where a circuit needs no share of it but only its number."""

    def shared(self, public: Words) -> Shared:
        """A public value as one that is shared."""
        return Shared(public if self.first else np.zeros_like(public), first=self.first)

    def shared_bits(self, public: Bits) -> SharedBits:
        return SharedBits(public if self.first else np.zeros_like(public), first=self.first)

    def product(self, left: Term, right: Term, shape: tuple[int, ...], ring: int = RING) -> Secret:
        """Of two terms' secrets, element by element, with as many bits as count of both."""
        i, j = left.number, right.number
        if i > j:
            i, j = j, i
        dtype = left.dtype if left.dtype.itemsize < right.dtype.itemsize else right.dtype
        return self._once(Product(i, j, dtype.itemsize, ring), shape, dtype)

    def contraction(
        self, left: Term, right: Term, shape: tuple[int, ...], ring: int = RING
    ) -> Secret:
        """The product of a matrix, or a stack of them, with a vector."""
        return self._once(Contraction(left.number, right.number, shape, ring), shape, WORD)

    def upper_outer(self, left: Term, right: Term, entries: int, ring: int = RING) -> Secret:
        """The upper half of the outer product of two vectors."""
        return self._once(UpperOuter(left.number, right.number, ring), (entries,), WORD)

    def bit_word(self, bits: Secret) -> Secret:
        """Bits in the lowest places of bytes as numbers."""
        return self._once(BitWord(bits.number), bits.share.shape, WORD)

    def bit_pair(self, bits: Secret) -> Secret:
        """Of bits that each server has for itself those that both have, as numbers."""
        return self._once(BitPair(bits.number), bits.share.shape, WORD)

    def _once(self, wanted: Correlation, shape: tuple[int, ...], dtype: DType) -> Secret:
        key = type(wanted), wanted
        found = self._correlated.get(key)
        if found is None:
            compute: Compute = wanted  # type: ignore[assignment]  # mypy calls no named tuple
            found = self._correlated[key] = self.dealt(compute, shape, dtype, xor=False)
        return found

    def conjunction(self, left: Secret, right: Secret) -> Secret:
        """left AND right, bit by bit."""
        i, j = sorted((left.number, right.number))
        if (i, j) not in self._conjunctions:
            shape = _common_shape(left, right)
            dtype = left.share.dtype
            made = self.dealt(lambda v: v[i] & v[j], shape, dtype, xor=True)
            self._conjunctions[i, j] = made
        return self._conjunctions[i, j]


class ServerEngine(Engine):
    """One of the two servers in one circuit of one step.

    The second server's pads give only what is uniform; the rest is in the dealer's corrections.
    """

    def __init__(self, pads: Pads, corrections: bytes | memoryview | None = None) -> None:
        super().__init__()
        self.first = corrections is None
        self._pads = pads
        self._corrections = corrections or b""
        self._position = 0

    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:  # noqa: ARG002
        return self._secret(self._pads.bits(shape, dtype))

    def dealt(
        self,
        compute: Compute,  # noqa: ARG002
        shape: tuple[int, ...],
        dtype: DType,
        *,
        xor: bool,  # noqa: ARG002
    ) -> Secret:
        if self.first:
            return self._secret(self._pads.bits(shape, dtype))
        try:
            share: Bits = np.ndarray(shape, dtype, self._corrections, self._position)
        except TypeError:
            raise CryptoError(_USED_UP) from None
        self._position += aligned(share.nbytes)
        if self._position > len(self._corrections):
            raise CryptoError(_USED_UP)
        return self._secret(share)

    def own(self, shape: tuple[int, ...], dtype: DType) -> Secret:
        return self._secret(self._pads.bits(shape, dtype) if self.first else _nothing(dtype))

    def told(self, compute: Compute, shape: tuple[int, ...], dtype: DType) -> Secret:
        if self.first:
            return self._secret(_nothing(dtype))
        return self.dealt(compute, shape, dtype, xor=False)

    def given(self, shape: tuple[int, ...], dtype: DType) -> int:  # noqa: ARG002
        self._count += 1
        return self._count - 1

    def rearranged(self, secret: Secret, rearrange: Rearrange) -> Secret:
        return self._secret(rearrange(secret.share))

    def renamed(self, number: int, rearrange: Rearrange, shape: tuple[int, ...]) -> int:  # noqa: ARG002
        self._count += 1
        return self._count - 1


class PreparedEngine(Engine):
    """One of two servers without a dealer: both have made in advance what the circuit asks for.

    `shares` are this server's, in the order of asking; masks come from its own pads.
    """

    def __init__(self, pads: Pads, shares: Sequence[Words], *, first: bool) -> None:
        super().__init__()
        self.first = first
        self._pads = pads
        self._shares = iter(shares)

    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:  # noqa: ARG002
        return self._secret(self._pads.bits(shape, dtype))

    def dealt(
        self,
        compute: Compute,  # noqa: ARG002
        shape: tuple[int, ...],
        dtype: DType,  # noqa: ARG002
        *,
        xor: bool,  # noqa: ARG002
    ) -> Secret:
        share = next(self._shares, None)
        if share is None or share.shape != shape:
            raise CryptoError(
                "the circuit asks for something that was not prepared: nothing is ever used twice; "
                "prepare what its recipe says"
            )
        return self._secret(share)

    def rearranged(self, secret: Secret, rearrange: Rearrange) -> Secret:
        return self._secret(rearrange(secret.share))

    def renamed(self, number: int, rearrange: Rearrange, shape: tuple[int, ...]) -> int:  # noqa: ARG002
        self._count += 1
        return self._count - 1

    def own(self, shape: tuple[int, ...], dtype: DType) -> Secret:  # noqa: ARG002
        raise CryptoError(_NO_DEALER)

    def told(self, compute: Compute, shape: tuple[int, ...], dtype: DType) -> Secret:  # noqa: ARG002
        raise CryptoError(_NO_DEALER)

    def given(self, shape: tuple[int, ...], dtype: DType) -> int:  # noqa: ARG002
        raise CryptoError(_NO_DEALER)


def _nothing(dtype: DType) -> Bits:
    return np.zeros(0, dtype)


def _common_shape(left: Secret, right: Secret) -> tuple[int, ...]:
    if left.share.shape == right.share.shape:
        return left.share.shape
    return np.broadcast(left.share, right.share).shape


def mask(engine: Engine, x: Shared) -> Circuit[MaskedWords]:
    """Open x under a fresh mask: the public part says nothing about x."""
    a = engine.uniform(x.shape, WORD, xor=False)
    (public,) = yield [OpeningShare(x.share - a.share, xor=False)]
    return MaskedWords(public, a.share, (Term(1, a.number, WORD),))


def mask_bits(engine: Engine, x: SharedBits) -> Circuit[MaskedBits]:
    """The same for bits."""
    a = engine.uniform(x.shape, x.share.dtype, xor=True)
    (public,) = yield [OpeningShare(x.share ^ a.share, xor=True)]
    return MaskedBits(public, BitTerm(None, a))


def moved(engine: Engine, x: MaskedWords, rearrange: Rearrange) -> MaskedWords:
    """x with its elements in other places."""
    public = rearrange(x.public)
    terms = tuple(
        Term(
            term.coefficient if isinstance(term.coefficient, int) else rearrange(term.coefficient),
            engine.renamed(term.number, rearrange, public.shape),
            term.dtype,
            term.power,
        )
        for term in x.terms
    )
    return MaskedWords(public, rearrange(x.share), terms)


def moved_bits(engine: Engine, x: MaskedBits, rearrange: Rearrange) -> MaskedBits:
    term = x.term
    return MaskedBits(
        rearrange(x.public),
        BitTerm(
            None if term.coefficient is None else rearrange(term.coefficient),
            engine.rearranged(term.secret, rearrange),
        ),
    )


def reveal(x: Shared) -> Circuit[Words]:
    """Open x to both servers: for what both may know."""
    (public,) = yield [OpeningShare(x.share, xor=False)]
    return public


def reveal_bits(x: SharedBits) -> Circuit[Bits]:
    (public,) = yield [OpeningShare(x.share, xor=True)]
    return public


def reveal_tally(x: Tally) -> Circuit[Bits]:
    (public,) = yield [OpeningShare(x.share, xor=False)]
    return public

"""Values that were opened under a mask: x = public + a sum of coefficient · secret.

The secrets are shared, and the dealer knows them: it can deal shares of their products, so that
masked values are multiplied without another round.
"""

# None of these is ever changed. Frozen dataclasses take three times as long to make, and a step
# makes more than a hundred.

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.pads import DType
from lotor.crypto.sharing.shares import word
from lotor.crypto.sharing.words import Bits, Words


@dataclass(slots=True, eq=False)
class Secret:
    """A server's share of what the dealer drew or computed; `number` is its name in the circuit.

    Where a circuit is traced for the dealer, `number` is where it finds the value.
    """

    share: Bits
    number: int

    def __repr__(self) -> str:
        return f"<Secret {self.number}: {self.share.dtype} {self.share.shape}>"


@dataclass(slots=True, eq=False)
class Term:
    """coefficient · secret. `power` says that the coefficient is a multiple of 2^power.

    A coefficient that is a number is the same for all elements. The secret is a number, the name
    that the dealer knows it by, and `dtype` says how many of its bits count.
    """

    coefficient: Words | int
    number: int
    dtype: DType
    power: int = 0

    def moved(self, places: NDArray[np.intp]) -> "Term":
        """With the coefficients of other elements; the secret is that of all of them."""
        if isinstance(self.coefficient, int):
            return self
        return Term(self.coefficient[places], self.number, self.dtype, self.power)


@dataclass(slots=True, eq=False, repr=False)
class MaskedWords:
    """An opened value of Z/2^64: its public part, and a server's share of the rest."""

    public: Words
    share: Words
    terms: tuple[Term, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.public.shape

    def __add__(self, number: int) -> "MaskedWords":
        return MaskedWords(self.public + word(number), self.share, self.terms)

    def __neg__(self) -> "MaskedWords":
        terms = tuple(
            Term(-term.coefficient, term.number, term.dtype, term.power) for term in self.terms
        )
        return MaskedWords(-self.public, -self.share, terms)


@dataclass(slots=True, eq=False)
class BitTerm:
    """coefficient AND secret; None is all ones."""

    coefficient: Bits | None
    secret: Secret


@dataclass(slots=True, eq=False, repr=False)
class MaskedBits:
    """Opened bits: x = public XOR (coefficient AND secret)."""

    public: Bits
    term: BitTerm


Rearrange = Callable[[Bits], Bits]
"""Moves values about, whatever they are: an index, a slice, a shift of bits.

Where two servers prepare several steps at once, their number is one more axis in front.
"""

"""A public modulus P = p_1·…·p_m, and whole numbers modulo P as m words each."""

import math
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import ArrayLike, NDArray

from lotor.core.draws import Words
from lotor.core.errors import InputError
from lotor.crypto.residues.folding import (
    EXCESS_BITS,
    RESIDUE_BITS,
    loose,
    loose_sum,
    once_less,
    settled,
)

Residues: TypeAlias = NDArray[np.uint64]
"""Numbers modulo P: the last axis has the residue of each prime, below that prime."""

Numbers: TypeAlias = NDArray[np.object_]
"""Whole numbers of any size: Python's or gmpy2's."""


class Modulus:
    """The product of the largest primes below 2^61, so many as are asked for.

    Primes have 61 bits, since whoever sees a secret matrix times a random one learns something
    when a prime divides its determinant: a chance of about 1/p for each prime and each matrix.

    >>> modulus = Modulus.of_bits(130)
    >>> modulus
    <Modulus of 3 primes, 183 bits>
    >>> small = modulus.residues([5, -7])
    >>> modulus.signed(modulus.add(small[0], small[1]))
    mpz(-2)
    """

    __slots__ = ("_excess", "_primes", "idempotents", "primes", "product")

    def __init__(self, count: int) -> None:
        self._set(_largest_primes(count))

    @classmethod
    def of_bits(cls, bits: int) -> "Modulus":
        """The least one above all numbers of so many bits."""
        if bits < 1:
            raise InputError(f"a modulus for numbers of {bits} bits: they have 1 bit at least")
        return cls(next(n for n in range(1, bits + 2) if _product(n).bit_length() > bits))

    @classmethod
    def _of_primes(cls, primes: Sequence[int]) -> "Modulus":
        """Any primes, for tests of what is exact modulo each: they would not protect anything."""
        modulus = cls.__new__(cls)
        modulus._set(tuple(primes))
        return modulus

    def _set(self, primes: tuple[int, ...]) -> None:
        self.primes = primes
        self.product = mpz(math.prod(primes))
        self._primes = np.array(primes, np.uint64)
        self._excess = np.array([(1 << RESIDUE_BITS) - p for p in primes], np.uint64)
        for array in (self._primes, self._excess):
            array.flags.writeable = False
        # 1 modulo the prime, 0 modulo the others
        parts = [self.product // p for p in primes]
        self.idempotents = np.array(
            [part * gmpy2.invert(part, p) for part, p in zip(parts, primes, strict=True)], object
        )

    def __repr__(self) -> str:
        return f"<Modulus of {self.count} primes, {self.bits} bits>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modulus) and self.primes == other.primes

    def __hash__(self) -> int:
        return hash(self.primes)

    @property
    def count(self) -> int:
        """m, the number of primes."""
        return len(self.primes)

    @property
    def bits(self) -> int:
        """How many bits numbers modulo P have."""
        return int(self.product.bit_length())

    def columns(self, axes: int) -> tuple[Words, Words]:
        """The primes p and their c = 2^61 - p, (m, 1, …) for arrays with so many axes behind m."""
        shape = (self.count,) + (1,) * axes
        return self._primes.reshape(shape), self._excess.reshape(shape)

    def residues(self, numbers: ArrayLike) -> Residues:
        """Whole numbers, negative ones too, as residues: (...) to (..., m)."""
        whole = np.asarray(numbers)
        if whole.dtype.kind not in "iuO":
            raise InputError(f"residues are those of whole numbers, not of {whole.dtype} values")
        whole = whole.astype(object)
        parts = [np.asarray(whole % p).astype(np.uint64) for p in self.primes]
        return np.stack(parts, axis=-1)

    def whole(self, residues: Residues) -> Numbers:
        """The numbers from 0 to P - 1 that have these residues: (..., m) to (...)."""
        numbers: Numbers = residues.astype(object) @ self.idempotents % self.product
        return numbers

    def signed(self, residues: Residues) -> Numbers:
        """The numbers from -P/2 to P/2 that have these residues."""
        half = self.product // 2
        lifted: Numbers = (self.whole(residues) + half) % self.product - half
        return lifted

    def add(self, a: Residues, b: Residues) -> Residues:
        return once_less(a + b, self._primes)

    def subtract(self, a: Residues, b: Residues) -> Residues:
        """If a - b wraps, adding p wraps it back, and is the smaller one."""
        difference = a - b
        less: Residues = np.minimum(difference, difference + self._primes)
        return less

    def negate(self, a: Residues) -> Residues:
        return self.subtract(np.zeros_like(a), a)

    def double(self, a: Residues) -> Residues:
        return self.add(a, a)

    def total(self, residues: Residues, axis: int = 0) -> Residues:
        """The sum over an axis, which is not the last one, of at most 2^28 numbers."""
        if axis % residues.ndim == residues.ndim - 1:
            raise InputError("the last axis has the residues of one number: sum over another axis")
        return settled(
            loose_sum(residues, axis % residues.ndim, self._excess), self._primes, self._excess
        )

    def reduced(self, words: Words) -> Residues:
        """Uniform 128-bit words, (..., m, 2), as residues that are uniform up to WORD_DISTANCE.

        125 bits are reduced: (first word mod 2^61) + 2^61·second word.
        """
        return settled(
            loose(words[..., 0], words[..., 1], self._excess), self._primes, self._excess
        )

    def contains(self, residues: Residues) -> bool:
        """Whether these are residues modulo P: words below their primes."""
        shaped = residues.dtype == np.uint64 and residues.shape[-1:] == (self.count,)
        return shaped and bool((residues < self._primes).all())


@cache
def _largest_primes(count: int) -> tuple[int, ...]:
    """The largest primes below 2^61, in descending order."""
    found = _all_primes()
    if not 1 <= count <= len(found):
        raise InputError(
            f"a modulus has 1 to {len(found)} primes, not {count}: these are {len(found) * 61} "
            "bits; use fewer dimensions, or a coarser grid"
        )
    return found[:count]


@cache
def _all_primes() -> tuple[int, ...]:
    top = 1 << RESIDUE_BITS
    # With 25 rounds gmpy2 makes a Baillie-PSW test, which errs on no number below 2^64.
    return tuple(top - c for c in range(1, 1 << EXCESS_BITS, 2) if gmpy2.is_prime(top - c, 25))


def _product(count: int) -> int:
    return math.prod(_largest_primes(count))

"""Small matrices of numbers modulo P, a product of primes: products and inverses."""

from typing import NamedTuple

import gmpy2
import numpy as np
from gmpy2 import mpz

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.residues.modulus import Modulus, Numbers

_to_mpz = np.frompyfunc(mpz, 1, 1)


class Inverse(NamedTuple):
    """A matrix times its inverse is 1 modulo P."""

    matrix: Numbers
    determinant: mpz
    """Of the matrix that was inverted."""

    def __repr__(self) -> str:
        return f"<Inverse of {len(self.matrix)} rows>"


def multiplied(a: Numbers, b: Numbers, modulus: Modulus) -> Numbers:
    """The product of two matrices, or of a matrix and a vector, modulo P.

    >>> modulus = Modulus(2)
    >>> a = np.array([[0, 1], [1, 3]], object)
    >>> inverse, determinant = inverted(a, modulus)
    >>> multiplied(a, inverse, modulus).astype(int).tolist(), determinant - modulus.product
    ([[1, 0], [0, 1]], mpz(-1))
    """
    product: Numbers = (_to_mpz(a) @ _to_mpz(b)) % modulus.product
    return product


def inverted(matrix: Numbers, modulus: Modulus) -> Inverse:
    """The inverse modulo P, and the determinant, by Gauss and Jordan's elimination.

    It works for every matrix that has an inverse: whose determinant no prime divides.
    """
    size = _size(matrix)
    identity = np.full((size, size), mpz(0), object)
    np.fill_diagonal(identity, mpz(1))
    work = np.concatenate([_to_mpz(matrix) % modulus.product, identity], axis=1)
    determinant = mpz(1)
    for i in range(size):
        pivot = _make_pivot(work, i, modulus)
        if pivot is None:
            raise CryptoError(
                "a matrix is singular modulo one of the primes, and has no inverse: if it was "
                "drawn, at a chance of about 2^-61 for each prime, draw another; else it was "
                "computed from wrong numbers"
            )
        determinant = determinant * pivot % modulus.product
        rest = slice(i + 1, None)  # the columns before are those of the identity by now
        work[i, rest] = work[i, rest] * gmpy2.invert(pivot, modulus.product) % modulus.product
        for others in (slice(i), rest):
            work[others, rest] -= work[others, i, np.newaxis] * work[i, rest]
            work[others, rest] %= modulus.product
    return Inverse(work[:, size:], determinant)


def determinant(matrix: Numbers, modulus: Modulus) -> mpz | None:
    """The determinant modulo P, or None if a prime divides it: then there is no inverse."""
    work = _to_mpz(matrix) % modulus.product
    found = mpz(1)
    for i in range(_size(matrix)):
        pivot = _make_pivot(work, i, modulus)
        if pivot is None:
            return None
        found = found * pivot % modulus.product
        rest = slice(i + 1, None)
        factors = work[rest, i] * gmpy2.invert(pivot, modulus.product) % modulus.product
        work[rest, rest] -= factors[:, np.newaxis] * work[i, rest]
        work[rest, rest] %= modulus.product
    return found


def _make_pivot(work: Numbers, i: int, modulus: Modulus) -> mpz | None:
    """Make work[i, i] invertible modulo every prime, or say that the matrix is singular.

    If a prime divides it, some row below has an entry that it does not divide, or the matrix is
    singular. That row, times the number that is 1 modulo this prime and 0 modulo the others, is
    added to row i. Unlike an exchange of rows, this also works where no single row has an entry
    that suits all primes, and it leaves the determinant as it is.
    """
    if gmpy2.gcd(work[i, i], modulus.product) == 1:
        return work[i, i]
    for prime, only_this in zip(modulus.primes, modulus.idempotents, strict=True):
        if work[i, i] % prime == 0:
            row = next((r for r in range(i + 1, len(work)) if work[r, i] % prime), None)
            if row is None:
                return None
            work[i] = (work[i] + only_this * work[row]) % modulus.product
    return work[i, i]


def _size(matrix: Numbers) -> int:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"only square matrices have inverses, not those of shape {matrix.shape}")
    return len(matrix)

"""Plaintexts and ciphertexts from arrays, written here in SEAL's format and read by SEAL.

SEAL's Python interface takes coefficients one by one, and compresses whatever it writes; what it
reads need not be compressed.
"""

from functools import cache
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.seal.binding import (
    ParmsId,
    SealCiphertext,
    SealContext,
    SealPlaintext,
    load,
    saved,
    seal,
)
from lotor.crypto.seal.payload import CIPHERTEXT, PLAINTEXT, SEAL_HEADER, SEAL_MAGIC, Packing

_COUNT = Struct("<Q")


def plaintext(context: SealContext, coefficients: NDArray[np.uint64]) -> SealPlaintext:
    """A polynomial with these coefficients, the constant one first."""
    head = PLAINTEXT.pack(0, 0, 0, 0, coefficients.size, 1.0)
    plain = seal().Plaintext()
    load(plain, context, _written(head + _numbers(coefficients)))
    return plain


def ciphertext(
    context: SealContext, level: ParmsId, residues: NDArray[np.uint64]
) -> SealCiphertext:
    """Polynomials of shape (polynomials, primes, degree), as residues by the primes of a level."""
    polynomials, primes, degree = residues.shape
    head = CIPHERTEXT.pack(*level, False, polynomials, degree, primes, 1.0, 1)
    out = seal().Ciphertext()
    load(out, context, _written(head + _numbers(residues)))
    return out


def _numbers(values: NDArray[np.uint64]) -> bytes:
    return _written(_COUNT.pack(values.size) + values.astype("<u8", copy=False).tobytes())


def _written(content: bytes) -> bytes:
    length = SEAL_HEADER.size + len(content)
    beginning = (SEAL_MAGIC, SEAL_HEADER.size, *_version(), Packing.NONE, 0, length)
    return SEAL_HEADER.pack(*beginning) + content


@cache
def _version() -> tuple[int, int]:
    """SEAL refuses what another version wrote, so that its own number is taken."""
    _, _, major, minor, *_ = SEAL_HEADER.unpack_from(saved(seal().Plaintext()))
    return major, minor

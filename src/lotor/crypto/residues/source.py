"""Secret numbers and matrices modulo P, as functions of a key and a place."""

from collections.abc import Iterator
from struct import Struct

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from gmpy2 import mpz

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.prf import KEY_BYTES
from lotor.crypto.residues.matrices import determinant
from lotor.crypto.residues.modulus import Modulus, Numbers

# round, label, and 32 bits for the counter
_NONCE = Struct(">QII")
_SURPLUS_BYTES = 16


class ResidueSource:
    """Numbers modulo P from AES-256 in counter mode: a restarted party draws the same again.

    A number is reduced from 128 bits more than P has, so that it is uniform up to 2^-130. A place
    is a label, which says what the numbers are for, and a round.

    >>> source = ResidueSource(bytes(32), Modulus(2))
    >>> source.numbers(label=0, round_=1, count=3).shape
    (3,)
    >>> matrix, determinant = source.invertible(label=1, round_=1, size=2)
    >>> matrix.shape, determinant != 0
    ((2, 2), True)
    """

    __slots__ = ("_encryptor", "_modulus", "_width")

    def __init__(self, key: bytes, modulus: Modulus) -> None:
        if len(key) != KEY_BYTES:
            raise CryptoError(f"numbers are drawn with a key of {KEY_BYTES} bytes, not {len(key)}")
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self._modulus = modulus
        self._width = -(-modulus.bits // 8) + _SURPLUS_BYTES

    def __repr__(self) -> str:
        return "<ResidueSource>"

    def numbers(self, label: int, round_: int, count: int) -> Numbers:
        """Uniform numbers from 0 to P - 1."""
        return next(self._stream(label, round_, count))

    def invertible(self, label: int, round_: int, size: int) -> tuple[Numbers, mpz]:
        """A uniform one of all matrices that are invertible modulo P, and its determinant."""
        for drawn in self._stream(label, round_, size * size):
            matrix = drawn.reshape(size, size)
            found = determinant(matrix, self._modulus)
            if found is not None:  # nothing else is refused, so that the others stay uniform
                return matrix, found
        raise AssertionError("the stream does not end")

    def _stream(self, label: int, round_: int, count: int) -> Iterator[Numbers]:
        """So many numbers, again and again, from one place."""
        if not (0 <= label < 1 << 32 and 0 <= round_ < 1 << 64):
            raise InputError(
                f"no such place: label {label}, round {round_}; labels are below 2^32, rounds "
                "below 2^64"
            )
        self._encryptor.reset_nonce(_NONCE.pack(round_, label, 0))
        while True:
            drawn = self._encryptor.update(bytes(self._width * count))
            parts = (drawn[i : i + self._width] for i in range(0, len(drawn), self._width))
            numbers = [mpz(int.from_bytes(part)) % self._modulus.product for part in parts]
            yield np.array(numbers, object)

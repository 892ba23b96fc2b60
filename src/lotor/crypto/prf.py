"""Pseudo-random words at a place: AES-256 on the block label ‖ l ‖ t ‖ i under a purpose's key.

No state and no order of calls: an owner of one arm and a process that hosts a hundred arms compute
the same words, and a restarted party computes them again.
"""

import secrets
from collections.abc import Sequence
from struct import Struct

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from lotor.core.draws import Words
from lotor.core.errors import InputError

KEY_BYTES = 32
_T_BITS = 48


def new_key() -> bytes:
    """A fresh 256-bit key from the operating system."""
    return secrets.token_bytes(KEY_BYTES)


def derive_key(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose from a longer-lived secret (HKDF-SHA256, RFC 5869)."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=b"lotor/1 " + purpose.encode()).derive(secret)


class Prf:
    """A keyed function from places (label, t, l) to one 128-bit block for each index.

    >>> one, all_three = Prf(bytes(32), [2]), Prf(bytes(32), [0, 1, 2])
    >>> bool(one.words(0, t=7, l=1)[0] == all_three.words(0, t=7, l=1)[2])
    True
    """

    def __init__(self, key: bytes, indices: Sequence[int] = (0,)) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"a PRF key has {KEY_BYTES} bytes, not {len(key)}")
        # ECB on distinct blocks is the block cipher itself, which is what a PRF on 16 bytes needs.
        self._encrypt = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update  # noqa: S305
        self._blocks = bytearray(16 * len(indices))
        halves = np.frombuffer(self._blocks, dtype=">u8").reshape(-1, 2)
        halves[:, 1] = indices
        self._places = halves[:, 0]
        self._unpack = Struct(">" + "Q8x" * len(indices)).unpack

    def __repr__(self) -> str:
        return f"<Prf over {len(self._places)} indices>"

    def blocks(self, label: int, t: int, l: int) -> bytes:
        """The 16-byte blocks of all indices, one after the other."""
        if not (0 <= label < 256 and 0 <= l < 256 and 0 <= t < 1 << _T_BITS):
            raise InputError(f"no such place: label {label}, round {t}, iteration {l}")
        self._places.fill((label << 56) | (l << _T_BITS) | t)
        return self._encrypt(self._blocks)

    def integers(self, label: int, t: int, l: int) -> tuple[int, ...]:
        """The first 64 bits of each block, as Python's integers."""
        return self._unpack(self.blocks(label, t, l))

    def words(self, label: int, t: int, l: int) -> Words:
        """The first 64 bits of each block, as an array."""
        return np.frombuffer(self.blocks(label, t, l), dtype=">u8")[::2].astype(np.uint64)

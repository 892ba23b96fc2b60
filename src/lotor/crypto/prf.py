"""Pseudo-random words at a place: AES-256 on the block label ‖ l ‖ t ‖ i under a purpose's key.

No state and no order of calls: an owner of one arm and a process that hosts a hundred arms compute
the same words, and a restarted party computes them again.
"""

import secrets
from collections.abc import Sequence
from struct import Struct

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from lotor.core.draws import Words
from lotor.core.errors import InputError
from lotor.crypto import derivation

KEY_BYTES = derivation.KEY_BYTES
_T_BITS = 48
ROUNDS_AHEAD = 16


def new_key() -> bytes:
    """A fresh 256-bit key from the operating system."""
    return secrets.token_bytes(KEY_BYTES)


class Prf:
    """A keyed function from places (label, t, l) to one 128-bit block for each index.

    For a caller that asks round after round, it computes `ahead` rounds in one call.

    >>> one, all_three = Prf(bytes(32), [2]), Prf(bytes(32), [0, 1, 2])
    >>> bool(one.words(0, t=7, l=1)[0] == all_three.words(0, t=7, l=1)[2])
    True
    """

    def __init__(self, key: bytes, indices: Sequence[int] = (0,), *, ahead: int = 1) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"a PRF key has {KEY_BYTES} bytes, not {len(key)}")
        # ECB on distinct blocks is the block cipher itself, which is what a PRF on 16 bytes needs.
        self._encrypt = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update  # noqa: S305
        self._count = len(indices)
        self._ahead = ahead
        self._inputs = bytearray(16 * len(indices) * ahead)
        halves = np.frombuffer(self._inputs, dtype=">u8").reshape(ahead, -1, 2)
        halves[:, :, 1] = indices
        self._places = halves[:, :, 0]
        self._rounds = np.arange(ahead, dtype=np.uint64)[:, np.newaxis]
        self._windows: dict[tuple[int, int], tuple[int, bytes]] = {}
        self._unpack = Struct(">" + "Q8x" * len(indices)).unpack

    def __repr__(self) -> str:
        return f"<Prf over {self._count} indices>"

    def blocks(self, label: int, t: int, l: int) -> bytes:
        """The 16-byte blocks of all indices, one after the other."""
        if self._ahead == 1:
            return self._window(label, t, l)
        start, window = self._windows.get((label, l), (t + 1, b""))
        if not start <= t < start + self._ahead:
            start, window = t, self._window(label, t, l)
            self._windows[label, l] = start, window
        width = 16 * self._count
        return window[(t - start) * width : (t - start + 1) * width]

    def _window(self, label: int, t: int, l: int) -> bytes:
        """The blocks of rounds t, t + 1, … in one call."""
        if not (0 <= label < 256 and 0 <= l < 256 and 0 <= t < (1 << _T_BITS) - self._ahead):
            raise InputError(
                f"label {label}, round {t}, iteration {l}: a label and an iteration lie between 0 "
                f"and 255, and a round below 2^{_T_BITS}"
            )
        self._places.fill((label << 56) | (l << _T_BITS) | t)
        if self._ahead > 1:
            self._places += self._rounds
        return self._encrypt(self._inputs)

    def integers(self, label: int, t: int, l: int) -> tuple[int, ...]:
        """The first 64 bits of each block, as Python's integers."""
        return self._unpack(self.blocks(label, t, l))

    def words(self, label: int, t: int, l: int) -> Words:
        """The first 64 bits of each block, as an array."""
        return np.frombuffer(self.blocks(label, t, l), dtype=">u8")[::2].astype(np.uint64)

"""Pads: a server's own part of all correlated randomness, drawn from a key.

The dealer knows both servers' keys and draws the same. AES-256 in counter mode, one stream for
each place, so that no two uses meet and a repeated step finds the same words.
"""

from functools import lru_cache
from struct import Struct
from typing import TypeAlias

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.sharing.words import Bits, Words

DType: TypeAlias = np.dtype[np.unsignedinteger]

# t, attempt, which circuit of the step, and 32 bits for the counter
_NONCE = Struct(">QHHI")
LONGEST = 1 << 32


def aligned(size: int) -> int:
    """Items begin at multiples of eight bytes, where numpy reads them fast."""
    return -(-size // 8) * 8


@lru_cache(maxsize=8)
def _zeros(size: int) -> bytes:
    return bytes(size)


class PadCipher:
    """A pad key, ready to draw from: to make this takes as long as to draw 30 kB."""

    __slots__ = ("_encryptor",)

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise CryptoError("a pad key has 32 bytes")
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def stream(self, nonce: bytes, size: int) -> bytes:
        """The key stream from this counter on."""
        self._encryptor.reset_nonce(nonce)
        return self._encryptor.update(_zeros(size))


class PadCiphers:
    """What was made of a party's pad keys, each once."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[bytes, PadCipher] = {}

    def of(self, key: bytes) -> PadCipher:
        cipher = self._made.get(key)
        if cipher is None:
            cipher = self._made[key] = PadCipher(key)
        return cipher


class Pads:
    """The stream of one place: drawn in the order of the circuit, each word once."""

    __slots__ = ("_position", "_stream")

    def __init__(self, cipher: PadCipher, size: int, *, t: int, attempt: int, circuit: int) -> None:
        if not (0 <= t < 1 << 64 and 0 <= attempt < 1 << 16 and 0 <= circuit < 1 << 16):
            raise InputError(
                f"no such place: step {t}, attempt {attempt}, circuit {circuit}; steps are below "
                "2^64, attempts and circuits below 2^16"
            )
        if size > LONGEST:
            raise InputError(
                f"a circuit cannot use {size} bytes of pads, {LONGEST} is the most: compute on "
                "fewer values, such as fewer arms or features"
            )
        self._stream = cipher.stream(_NONCE.pack(t, attempt, circuit, 0), size)
        self._position = 0

    def words(self, shape: tuple[int, ...]) -> Words:
        """Uniform elements of Z/2^64."""
        return self.bits(shape, np.dtype(np.uint64)).astype(np.uint64, copy=False)

    def bits(self, shape: tuple[int, ...], dtype: DType) -> Bits:
        """Uniform words of this width."""
        try:
            # The fastest of numpy's ways to look at bytes without a copy.
            item: Bits = np.ndarray(shape, dtype, self._stream, self._position)
        except TypeError:
            raise CryptoError(
                "this step's pads are used up: no word is ever used twice, and the circuit asks "
                "for more than its recipe says"
            ) from None
        self._position += (item.nbytes + 7) & ~7  # `aligned`, without a call
        return item

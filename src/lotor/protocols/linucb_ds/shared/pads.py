"""What P draws, all of it for one use: U and V of products, and its shares in circuits."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from lotor.core.draws import Words
from lotor.core.errors import CryptoError
from lotor.crypto.bfv import MODULUS_BITS, SLOTS
from lotor.crypto.garbling import bits_of
from lotor.crypto.prf import KEY_BYTES, Prf
from lotor.protocols.garbled.evaluator import Bits
from lotor.protocols.garbled.schedule import CircuitBatch

MASK = np.uint64((1 << MODULUS_BITS) - 1)


class ProductPads:
    """Uniform modulo 2^59, by AES-256 in counter mode: the same again after a restart.

    >>> u, v = ProductPads(bytes(32), 3).of(7)
    >>> u.shape, v.shape
    ((3, 8192), (8192,))
    """

    def __init__(self, key: bytes, d: int) -> None:
        if len(key) != KEY_BYTES:
            raise CryptoError(f"a key of pads has {KEY_BYTES} bytes, not {len(key)}")
        self._d = d
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def __repr__(self) -> str:
        return "<ProductPads>"

    def of(self, batch: int) -> tuple[Words, Words]:
        """U, a row of slots for each coordinate, and V."""
        self._encryptor.reset_nonce(batch.to_bytes(8) + bytes(8))
        stream = self._encryptor.update(bytes(8 * (self._d + 1) * SLOTS))
        words = np.frombuffer(stream, np.uint64).reshape(self._d + 1, SLOTS) & MASK
        return words[: self._d], words[self._d]


class CircuitShares:
    """The shares of scores that P brings to circuits: it chooses them before it knows any score."""

    def __init__(self, key: bytes, k: int) -> None:
        self._prf = Prf(key, range(k))

    def __repr__(self) -> str:
        return "<CircuitShares>"

    def of(self, turn: int) -> Words:
        """One for each arm, uniform modulo 2^59."""
        return self._prf.words(0, turn, 0) & MASK

    def choices(self, batch: CircuitBatch) -> tuple[Bits, ...]:
        """The bits of those of a batch, (bits, arms, turns)."""
        shares = np.stack([self.of(turn) for turn in batch.turns], axis=-1)
        return (bits_of(shares, MODULUS_BITS),)

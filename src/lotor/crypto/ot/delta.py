"""The difference between the two labels of every wire, and labels themselves."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import CryptoError
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import KEY_BYTES

Labels: TypeAlias = NDArray[np.uint64]
"""128-bit labels, as two words each in the last axis; the lowest bit of the first is the colour."""

LABEL_BITS = 128
LABEL_BYTES = 16


class Delta:
    """128 secret bits, of which the lowest is 1, so that the two labels differ in colour.

    It is the correlation of an oblivious transfer extension and the free-XOR offset of garbling
    alike: rows of the one are labels of the other.

    >>> delta = Delta.derive(bytes(32), "run 1")
    >>> delta, int(delta.words[0] & 1), delta.bits.shape
    (<Delta>, 1, (128,))
    """

    __slots__ = ("bits", "words")

    def __init__(self, words: Labels) -> None:
        if words.shape != (2,) or words.dtype != np.uint64 or not int(words[0]) & 1:
            raise CryptoError("a delta is two words of 64 bits, and the lowest bit is 1")
        self.words = words.copy()
        self.words.flags.writeable = False
        self.bits = np.unpackbits(self.words.view(np.uint8), bitorder="little")
        self.bits.flags.writeable = False

    @classmethod
    def derive(cls, key: bytes, run: str) -> "Delta":
        """The delta of a run, from a key that its party keeps."""
        if len(key) != KEY_BYTES:
            raise CryptoError(f"a delta is derived from {KEY_BYTES} bytes, not {len(key)}")
        secret = bytearray(derive_key(key, f"delta {run}")[:LABEL_BYTES])
        secret[0] |= 1
        return cls(np.frombuffer(bytes(secret), np.uint64))

    def __repr__(self) -> str:
        return "<Delta>"

"""A key wrapped under a passphrase or a key file: scrypt (RFC 7914) of its SHA-256, AES-256-GCM.

scrypt and not Argon2id: every OpenSSL that `cryptography` can be built with has it.
"""

import hashlib
import os

import msgspec
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from lotor.core.errors import CryptoError, InputError, IntegrityError
from lotor.crypto.aead import KEY_BYTES, OVERHEAD, Aead

SALT_BYTES = 16
# What a hostile file can make a reader spend: half a GiB, and some seconds.
MOST_MEMORY = 1 << 29
MOST_PASSES = 4


class ScryptCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much one guess costs; by default 128 MiB and about half a second.

    >>> ScryptCost().memory >> 20
    128
    """

    log2_n: int = 17
    r: int = 8
    p: int = 1

    def __post_init__(self) -> None:
        # log2_n is bounded first: 2 to its power is computed only if it is small.
        usable = 1 <= self.log2_n <= 30 and 1 <= self.r <= 64 and 1 <= self.p <= MOST_PASSES
        # The last one is scrypt's own: N < 2^(128 * r / 8).
        if not usable or self.memory > MOST_MEMORY or self.log2_n >= 16 * self.r:
            raise InputError(
                f"{self} is refused: its memory, 128 * r * 2^log2_n bytes, may be at most "
                f"{MOST_MEMORY >> 20} MiB, log2_n less than 16 * r, and p at most {MOST_PASSES}"
            )

    @property
    def memory(self) -> int:
        """In bytes."""
        return 128 * self.r << self.log2_n


class WrappedKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key that opens with the secret that it was wrapped under."""

    cost: ScryptCost
    salt: bytes
    sealed: bytes

    def __repr__(self) -> str:
        return f"<WrappedKey, {self.cost}>"


class StretchedSecret:
    """A passphrase or the like after scrypt, which is slow on purpose and is done once."""

    def __init__(
        self, secret: bytes, cost: ScryptCost | None = None, salt: bytes | None = None
    ) -> None:
        self.cost = cost or ScryptCost()
        self.salt = os.urandom(SALT_BYTES) if salt is None else salt
        # scrypt begins with HMAC, to which secrets that differ by zeros at their end are one.
        whole = hashlib.sha256(secret).digest()
        self._cipher = Aead(stretch(whole, self.salt, self.cost))

    def __repr__(self) -> str:
        return "<StretchedSecret>"

    def wrap(self, key: bytes, bound: bytes) -> WrappedKey:
        """Wrap a key of 32 bytes; `unwrap` must be given the same `bound`."""
        if len(key) != KEY_BYTES:
            raise InputError(f"a key to wrap has {KEY_BYTES} bytes, not {len(key)}")
        return WrappedKey(self.cost, self.salt, self._cipher.seal([key], self._bound(bound)))

    def unwrap(self, wrapped: WrappedKey, bound: bytes) -> bytes:
        """The key; IntegrityError if the secret is another one, or anything was altered."""
        length = KEY_BYTES + OVERHEAD
        if len(wrapped.sealed) != length:
            raise IntegrityError(f"a wrapped key has {length} bytes, not {len(wrapped.sealed)}")
        (key,) = self._cipher.open(wrapped.sealed, KEY_BYTES, self._bound(bound))
        return key

    def _bound(self, bound: bytes) -> bytes:
        return msgspec.msgpack.encode(["lotor wrapped key 1", self.cost, self.salt, bound])


def stretch(secret: bytes, salt: bytes, cost: ScryptCost) -> bytes:
    """A key for AES from a secret that people may have thought of."""
    try:
        return Scrypt(salt, KEY_BYTES, 1 << cost.log2_n, cost.r, cost.p).derive(secret)
    except MemoryError:
        raise CryptoError(
            f"this machine has no {-(-cost.memory >> 20)} MiB of memory left for scrypt, which "
            "makes a key from a passphrase or a key file: end other programs, or allow this one "
            "more memory, and try again"
        ) from None

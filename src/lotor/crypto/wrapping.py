"""A key wrapped under a passphrase or a key file: scrypt (RFC 7914), then AES-256-GCM.

scrypt and not Argon2id: every OpenSSL that `cryptography` can be built with has it.
"""

import os

import msgspec
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from lotor.core.errors import InputError, IntegrityError
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
        if not usable or self.memory > MOST_MEMORY:
            raise InputError(
                f"{self} is refused: its memory, 128 * r * 2^log2_n bytes, may be at most "
                f"{MOST_MEMORY >> 20} MiB, and p at most {MOST_PASSES}"
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


def wrap(key: bytes, secret: bytes, bound: bytes, cost: ScryptCost | None = None) -> WrappedKey:
    """Wrap a key of 32 bytes; `unwrap` must be given the same secret and the same `bound`."""
    if len(key) != KEY_BYTES:
        raise InputError(f"a key to wrap has {KEY_BYTES} bytes, not {len(key)}")
    cost, salt = cost or ScryptCost(), os.urandom(SALT_BYTES)
    cipher = Aead(stretch(secret, salt, cost))
    return WrappedKey(cost, salt, cipher.seal([key], _bound(bound, salt, cost)))


def unwrap(wrapped: WrappedKey, secret: bytes, bound: bytes) -> bytes:
    """The key; IntegrityError if the secret is another one, or anything was altered."""
    cost, salt, sealed = wrapped.cost, wrapped.salt, wrapped.sealed
    if len(sealed) != KEY_BYTES + OVERHEAD:
        raise IntegrityError(f"a wrapped key has {KEY_BYTES + OVERHEAD} bytes, not {len(sealed)}")
    cipher = Aead(stretch(secret, salt, cost))
    (key,) = cipher.open(sealed, KEY_BYTES, _bound(bound, salt, cost))
    return key


def stretch(secret: bytes, salt: bytes, cost: ScryptCost) -> bytes:
    """A key for AES from a secret that people may have thought of."""
    return Scrypt(salt, KEY_BYTES, 1 << cost.log2_n, cost.r, cost.p).derive(secret)


def _bound(bound: bytes, salt: bytes, cost: ScryptCost) -> bytes:
    return msgspec.msgpack.encode(["lotor wrapped key 1", cost, salt, bound])

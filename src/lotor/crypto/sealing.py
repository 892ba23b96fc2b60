"""Sealing a key to one recipient through somebody who must not read it (HPKE, RFC 9180).

Base mode of DHKEM(X25519), HKDF-SHA256, AES-256-GCM. HPKE as `cryptography` offers it does not
say who sealed: the sender signs the sealed bytes too (`signing`).
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from lotor.core.errors import FormatError, IntegrityError

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
PUBLIC_KEY_BYTES = 32
OVERHEAD = 32 + 16


class SealingKey:
    """A recipient's key pair, made for one run.

    >>> recipient = SealingKey()
    >>> recipient.open(seal(b"secret", recipient.public, b"run 1"), b"run 1")
    b'secret'
    """

    def __init__(self, private: bytes | None = None) -> None:
        try:
            self._private = (
                X25519PrivateKey.generate()
                if private is None
                else X25519PrivateKey.from_private_bytes(private)
            )
        except ValueError:
            raise FormatError(
                "these bytes are not an X25519 private key, which has 32: they were cut or extended"
            ) from None
        self.public = self._private.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"<SealingKey {self.public.hex()[:16]}>"

    def private_bytes(self) -> bytes:
        """The secret itself, for a checkpoint and nothing else."""
        return self._private.private_bytes_raw()

    def open(self, sealed: bytes, bound: bytes) -> bytes:
        try:
            return _SUITE.decrypt(sealed, self._private, info=bound)
        except (InvalidTag, ValueError):
            raise IntegrityError(
                "a sealed key does not open: it was altered, or sealed to another key or run"
            ) from None


def seal(plaintext: bytes, public: bytes, bound: bytes) -> bytes:
    """Encrypt to the holder of `public`; `bound` must be equal on both sides."""
    if len(public) != PUBLIC_KEY_BYTES:
        raise FormatError(f"an X25519 public key has {PUBLIC_KEY_BYTES} bytes, not {len(public)}")
    try:
        return _SUITE.encrypt(plaintext, X25519PublicKey.from_public_bytes(public), info=bound)
    except ValueError:  # a point of low order has no secret to share
        raise FormatError(
            "this X25519 public key is not usable: its owner must make another"
        ) from None

"""Keys from longer-lived secrets."""

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32


def derive_key(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose from a longer-lived secret (HKDF-SHA256, RFC 5869)."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=b"lotor/1 " + purpose.encode()).derive(secret)

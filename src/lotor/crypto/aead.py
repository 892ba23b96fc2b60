"""AES-256-GCM for many small messages under one key, whose random nonces are drawn in bulk.

A sealed message is nonce (12 bytes) ‖ ciphertext ‖ tag (16 bytes).
"""

import os
from collections.abc import Sequence
from itertools import repeat
from operator import add

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lotor.core.cutting import cutter
from lotor.core.errors import CryptoError, InputError, IntegrityError

KEY_BYTES = 32
NONCE_BYTES = 12
OVERHEAD = NONCE_BYTES + 16
# NIST SP 800-38D, section 8.3: with random 96-bit nonces, at most 2^32 messages under one key.
MESSAGE_LIMIT = 1 << 32


class Aead:
    """One AES-256-GCM key. `sealed` and `opened` count its messages.

    >>> aead = Aead(os.urandom(32))
    >>> aead.open(aead.seal([b"0", b"1"], b"round 7"), 1, b"round 7")
    [b'0', b'1']
    """

    def __init__(self, key: bytes, *, sealed: int = 0) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"an AES-256 key has {KEY_BYTES} bytes, not {len(key)}")
        self._cipher = AESGCM(key)
        self.sealed = sealed
        self.opened = 0

    def __repr__(self) -> str:
        return f"<Aead: {self.sealed} sealed, {self.opened} opened>"

    def operations(self) -> dict[str, int]:
        return {"aes_gcm_encryptions": self.sealed, "aes_gcm_decryptions": self.opened}

    def seal(self, plaintexts: Sequence[bytes], bound: bytes) -> bytes:
        """Encrypt each plaintext under its own nonce; `open` must be given the same `bound`."""
        if self.sealed + len(plaintexts) > MESSAGE_LIMIT:
            raise CryptoError(
                "this AES-GCM key has sealed 2^32 messages, the most that random nonces allow: "
                "split the budget into several runs; each run has its own key"
            )
        self.sealed += len(plaintexts)
        if len(plaintexts) == 1:
            nonce = os.urandom(NONCE_BYTES)
            return nonce + self._cipher.encrypt(nonce, plaintexts[0], bound)
        nonces = cutter(len(plaintexts), NONCE_BYTES)(os.urandom(NONCE_BYTES * len(plaintexts)))
        sealed = map(self._cipher.encrypt, nonces, plaintexts, repeat(bound))
        return b"".join(map(add, nonces, sealed))

    def open(self, sealed: bytes, width: int, bound: bytes) -> list[bytes]:
        """Decrypt a concatenation of messages whose plaintexts have `width` bytes each."""
        step = width + OVERHEAD
        if len(sealed) % step:
            raise IntegrityError(
                f"sealed messages of {step} bytes each cannot add up to {len(sealed)} bytes: "
                "the message was cut, or another version of lotor made it"
            )
        decrypt = self._cipher.decrypt
        try:
            if len(sealed) == step:
                plaintexts = [decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)]
            else:
                parts = cutter(len(sealed) // step, NONCE_BYTES, step - NONCE_BYTES)(sealed)
                plaintexts = list(map(decrypt, parts[::2], parts[1::2], repeat(bound)))
        except InvalidTag:
            raise IntegrityError(
                "a sealed message does not open: it was altered, or made under another key, "
                "for another run, round or direction"
            ) from None
        self.opened += len(plaintexts)
        return plaintexts

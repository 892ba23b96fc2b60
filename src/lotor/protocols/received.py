"""Checks of received Paillier keys, ciphertexts and terms; every error names the sender."""

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.paillier import Ciphertext, PublicKey


def public_key_from(data: bytes, minimum_bits: int, sender: str) -> PublicKey:
    """A public key, checked before any work is done with it."""
    try:
        return PublicKey.from_bytes(data, minimum_bits=minimum_bits)
    except CryptoError as error:
        raise ProtocolError(f"{sender} sent an unusable Paillier key: {error}") from None


def ciphertext_from(data: bytes, key: PublicKey, sender: str) -> Ciphertext:
    """A ciphertext under `key`, or an error that names who sent something else."""
    try:
        return Ciphertext.from_bytes(data, key)
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent something that is not a ciphertext under the right key: {error}"
        ) from None


def check_announced(terms: bytes, order: bytes | None, run: str) -> None:
    """If the run was announced, refuse terms other than the announced ones."""
    if order is not None and terms != order:
        raise ProtocolError(
            f"customer's terms differ from those that the parties of run {run} agreed to: somebody "
            "replaced them, or the customer ordered twice; start a new run"
        )

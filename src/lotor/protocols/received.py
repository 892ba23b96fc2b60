"""What parties are sent by others: Paillier keys, ciphertexts and terms, checked, sender named."""

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.paillier import Ciphertext, PublicKey


def public_key_from(data: bytes, minimum_bits: int, sender: str) -> PublicKey:
    """A public key; looked at before anything is done for nothing."""
    try:
        return PublicKey.from_bytes(data, minimum_bits=minimum_bits)
    except CryptoError as error:
        raise ProtocolError(f"{sender} sent an unusable Paillier key: {error}") from None


def ciphertext_from(data: bytes, key: PublicKey, sender: str) -> Ciphertext:
    """A ciphertext under `key`, or an error that names who sent something else."""
    try:
        return Ciphertext.from_bytes(data, key)
    except CryptoError as error:
        raise ProtocolError(f"{sender} sent no ciphertext under the right key: {error}") from None


def check_announced(terms: bytes, order: bytes | None, run: str) -> None:
    """Refuse terms other than those that a run was announced with, if it was."""
    if order is not None and terms != order:
        raise ProtocolError(
            f"customer's terms are not those that run {run} was announced and agreed to with: "
            "somebody exchanged them, or the customer ordered twice; start a new run"
        )

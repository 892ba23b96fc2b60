"""An arm's sum and pulls in one plaintext, so that the customer sees whether all N pulls are there.

The sums of all arms stay below 2^63 (core/fixed_point.py), so that the two never mix.
"""

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.paillier import Ciphertext, PublicKey

_SUM_BITS = 64


def packed(s: int, n: int) -> int:
    return n << _SUM_BITS | s


def unpacked(total: int) -> tuple[int, int]:
    """(sum of rewards, number of pulls)

    >>> unpacked(packed(5, 2) + packed(7, 1))
    (12, 3)
    """
    return total & ((1 << _SUM_BITS) - 1), total >> _SUM_BITS


def customer_key(data: bytes, minimum_bits: int) -> PublicKey:
    """The key of the terms; looked at before anything is pulled for nothing."""
    try:
        return PublicKey.from_bytes(data, minimum_bits=minimum_bits)
    except CryptoError as error:
        raise ProtocolError(f"customer ordered under an unusable key: {error}") from None


def received_ciphertext(data: bytes, key: PublicKey, sender: str) -> Ciphertext:
    """A ciphertext under the customer's key, or an error that names who sent something else."""
    try:
        return Ciphertext.from_bytes(data, key)
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent no ciphertext under the customer's key: {error}"
        ) from None

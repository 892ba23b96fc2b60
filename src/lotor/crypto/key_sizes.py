"""Which sizes Paillier keys may have; apart, since options are checked before keys are needed."""

from lotor.core.errors import InputError

KEY_BITS = (2048, 3072, 4096)
SECURE_BITS = 2048
SMALLEST_BITS = 128


def check_key_bits(bits: int, insecure_bits: int | None = None) -> None:
    """Refuse sizes that `generate_keypair` cannot make."""
    if insecure_bits is not None:
        even = type(insecure_bits) is int and insecure_bits % 2 == 0
        if not even or not SMALLEST_BITS <= insecure_bits < SECURE_BITS:
            raise InputError(
                f"insecure_bits={insecure_bits} is not an even number from {SMALLEST_BITS} to "
                f"{SECURE_BITS - 2}: correct it, or pass bits for a real key"
            )
    elif bits not in KEY_BITS:
        raise InputError(
            f"bits={bits} is not a Paillier key size: choose one of {KEY_BITS} "
            "(tests and teaching can pass insecure_bits)"
        )

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
                f"an insecure Paillier key has an even number of bits from {SMALLEST_BITS} to "
                f"{SECURE_BITS - 2}, not {insecure_bits}: leave it out for a real key"
            )
    elif bits not in KEY_BITS:
        raise InputError(
            f"a Paillier key of {bits} bits is not offered: choose "
            f"{', '.join(map(str, KEY_BITS[:-1]))} or {KEY_BITS[-1]} bits"
        )

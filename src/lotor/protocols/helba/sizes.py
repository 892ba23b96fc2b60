"""How many levels of which size fit at a security level."""

from typing import Final

from lotor.core.errors import InputError
from lotor.crypto.ckks import LARGEST_MODULUS

SPECIAL_BITS: Final = 60
LEAST_SCALE_BITS, MOST_SCALE_BITS = 38, 50
_LARGEST_DEGREE: Final = max(LARGEST_MODULUS)


def scale_bits_for(levels: int, security: int) -> int:
    """The largest primes with which so many levels fit; 0 if none do."""
    if security not in LARGEST_MODULUS[_LARGEST_DEGREE]:
        raise InputError(f"security={security}: choose 128, 192 or 256")
    room = LARGEST_MODULUS[_LARGEST_DEGREE][security] - SPECIAL_BITS
    for bits in range(MOST_SCALE_BITS, 0, -1):
        if min(bits + 12, SPECIAL_BITS) + levels * bits <= room:
            return bits
    return 0


def fits(levels: int, security: int) -> bool:
    """Whether so many levels fit with primes that are not too coarse."""
    return scale_bits_for(levels, security) >= LEAST_SCALE_BITS

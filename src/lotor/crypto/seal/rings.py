"""Rings: how large a modulus is secure, the primes that make it up, and SEAL's fresh errors.

Reference: M. Albrecht et al., Homomorphic Encryption Security Standard, 2018, table 1 (ternary
secrets, classical attacks).
"""

import math
from typing import Final

from lotor.core.errors import InputError

FINGERPRINT_BYTES: Final = 16

LARGEST_MODULUS: Final = {
    1024: {128: 27, 192: 19, 256: 14},
    2048: {128: 54, 192: 37, 256: 29},
    4096: {128: 109, 192: 75, 256: 58},
    8192: {128: 218, 192: 152, 256: 118},
    16384: {128: 438, 192: 305, 256: 237},
    32768: {128: 881, 192: 611, 256: 476},
}
"""The most bits that all primes together may have, by degree and security; SEAL ends at 32768."""

ERROR_BITS: Final = 21
"""SEAL draws a coefficient of a fresh error as the difference of two sums of so many bits."""
FRESH_DEVIATION: Final = math.sqrt(ERROR_BITS / 2)
"""The standard deviation of such a coefficient."""


def largest_primes(degree: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The largest primes of these sizes that are 1 mod 2·degree, each once.

    >>> largest_primes(1024, (20, 17, 20))
    (1032193, 120833, 1038337)
    """
    found = {bits: _of_size(degree, bits, sizes.count(bits)) for bits in set(sizes)}
    return tuple(found[bits].pop() for bits in sizes)


def _of_size(degree: int, bits: int, count: int) -> list[int]:
    # Imported here because it loads slowly, and reading the tables above does not need it.
    import gmpy2  # noqa: PLC0415

    step = 2 * degree
    candidate = ((1 << bits) - 1) // step * step + 1
    primes: list[int] = []
    while len(primes) < count:
        if candidate.bit_length() < bits:
            raise InputError(
                f"there are only {len(primes)} primes of {bits} bits for degree {degree} and "
                f"{count} are needed: take larger ones"
            )
        if gmpy2.is_prime(candidate, 40):
            primes.append(candidate)
        candidate -= step
    return primes

"""Noise that hides in a message how it was computed, and how well it does.

The holder of the key sees the noise of a message. Without flooding it is, in each coefficient,

    sum over j and i of ±U_{j,i}·e_{j,k-i}, the errors e of the encryptions of b,

and tells about U. `flooding` adds a number that is uniform over 2^139 integers around 0.
"""

import math
import os
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.crypto.bfv.context import MODULUS_BITS, SLOTS
from lotor.crypto.seal.rings import FRESH_DEVIATION

FLOOD_BITS: Final = 139
"""Flooding is uniform over 2 to this power integers around 0."""

Words = NDArray[np.uint64]

_LIMB_BITS: Final = (46, 46, 47)
_TAIL: Final = 2.0**-100
# 2·SLOTS·exp(-x²/2) is the tail of all coefficients together.
_DEVIATIONS: Final = math.sqrt(2 * math.log(2 * SLOTS / _TAIL))


def noise_bound(d: int) -> float:
    """What the noise of a sum of d products does not exceed before flooding, but for 2^-100.

    A fresh error is the difference of two sums of 21 bits, so that E exp(x·e) <= exp(x²·s²/2)
    with s² = 21/2, its variance. U is drawn without regard to the errors, and |U| <= 2^58 once it
    is centred: in each coefficient the sum of 8192·d products is sub-Gaussian with deviation
    s·sqrt(8192·d)·2^58 at most. It exceeds x deviations with probability 2·exp(-x²/2) at most;
    x = 12.6 makes that 2^-100 for all coefficients together. Roundings of b_j, at most 1/2 each,
    are multiplied by U too, and add d·2^57 at most; the error of the fresh encryption under the
    public key, a few times 21·8192, and other roundings stay far below 2^57.

    >>> round(math.log2(noise_bound(20)), 1)
    72.0
    """
    if d < 1:
        raise InputError(f"d={d}: a sum has at least one product")
    largest = 2.0 ** (MODULUS_BITS - 1)
    return _DEVIATIONS * FRESH_DEVIATION * math.sqrt(SLOTS * d) * largest + (d + 1) * largest / 2


def statistical_distance(d: int, batches: int) -> float:
    """log2 of how far all messages of a run are, at most, from ones that do not depend on U.

    Two uniform distributions over 2^139 integers, one of them shifted by x, are |x|/2^139 apart.
    A message has 8192 coefficients, each shifted by `noise_bound` at most; where that bound does
    not hold, with probability 2^-100, the distance counts as 1. Messages add up, and switching
    down, which comes after, cannot increase a distance.

    >>> round(statistical_distance(20, 1)), round(statistical_distance(20, 2**14))
    (-54, -40)
    """
    if batches < 1:
        raise InputError(f"batches={batches}: a run has at least one message")
    each = SLOTS * noise_bound(d) / 2.0**FLOOD_BITS + _TAIL
    return math.log2(batches * each)


def flooding(primes: tuple[int, ...]) -> Words:
    """Fresh noise for every coefficient as residues, of shape (primes, SLOTS)."""
    # Raw bits: a remainder of random words by a prime would not be uniform.
    words = np.frombuffer(os.urandom(len(_LIMB_BITS) * SLOTS * 8), dtype=np.uint64)
    shifts = np.array([[64 - bits] for bits in _LIMB_BITS], dtype=np.uint64)
    limbs = words.reshape(len(_LIMB_BITS), SLOTS) >> shifts
    return np.stack([centred_residues(limbs, prime) for prime in primes])


def centred_residues(limbs: Words, prime: int) -> Words:
    """(l + 2^46·m + 2^92·h) - 2^138 by a prime of 48 to 50 bits, exactly."""
    low, middle, high = limbs
    first, second, _ = _LIMB_BITS
    total = low + _times(middle, (1 << first) % prime, prime)
    total += _times(high, (1 << first + second) % prime, prime)
    total += np.uint64(-(1 << FLOOD_BITS - 1) % prime)
    return np.asarray(total % np.uint64(prime), dtype=np.uint64)


def _times(a: Words, b: int, prime: int) -> Words:
    """a·b by the prime, for a, b < prime < 2^50: the quotient in doubles is off by one at most."""
    quotient = (a.astype(np.float64) * (b / prime)).astype(np.uint64)
    rest = (a * np.uint64(b) - quotient * np.uint64(prime)).view(np.int64)
    return (rest % np.int64(prime)).view(np.uint64)

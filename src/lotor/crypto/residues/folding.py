"""Arithmetic on 64-bit words modulo primes p = 2^61 - c: 2^61 may be replaced by c.

Primes and their c are arrays of any shape that broadcasts to that of words. A *loose* word is
congruent to what it stands for, but not reduced; a *settled* one is below its prime.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import Words
from lotor.core.errors import InputError

RESIDUE_BITS: Final = 61
EXCESS_BITS: Final = 12
"""All c are below 2^12: about a hundred primes."""

WORD_DISTANCE: Final = 2 * (EXCESS_BITS - RESIDUE_BITS)
"""log2 of how far a residue of a uniform 128-bit word is from a uniform one, at most.

Of the word 125 bits are used: N = 2^125 numbers. Each residue has floor(N/p) or one more, and
r = N mod p residues have one more, so that the statistical distance is r(p - r)/(pN) < r/N. Since
2^125 = 8·2^122, r is 8c², and r/N = c²/2^122 < 2^-98. (Primes of
another form would give up to p/4N = 2^-66.)
"""

_U64 = np.uint64
_LOW = _U64((1 << RESIDUE_BITS) - 1)
_SHORT_BITS = _U64(RESIDUE_BITS - EXCESS_BITS)
_SHORT = _U64((1 << (RESIDUE_BITS - EXCESS_BITS)) - 1)
_HALF = _U64(32)
_LOW_HALF = _U64((1 << 32) - 1)
_MOST_SUMMED = 1 << 28


def loose(low: Words, high: Words, excess: Words) -> Words:
    """(low mod 2^61) + 2^61·high, as a word below 3·2^61.

    c·high does not fit into a word, so that high = s + 2^49·t is taken apart: c·s is below 2^61,
    and of u = c·t, which stands at 2^49, all but 12 bits are folded once more.
    """
    folded = high & _SHORT
    folded *= excess
    upper = high >> _SHORT_BITS
    upper *= excess
    above = upper >> _U64(EXCESS_BITS)
    above *= excess
    folded += above
    upper &= _U64((1 << EXCESS_BITS) - 1)
    upper <<= _SHORT_BITS
    folded += upper
    folded += low & _LOW
    return folded


def settled(words: Words, primes: Words, excess: Words) -> Words:
    """Any 64-bit words modulo primes."""
    folded = words >> _U64(RESIDUE_BITS)
    folded *= excess
    folded += words & _LOW
    return once_less(folded, primes)


def once_less(words: Words, primes: Words) -> Words:
    """Words below 2p modulo p: of x and x - p one is below p, and the other wraps or is larger."""
    less: Words = np.minimum(words, words - primes)
    return less


def loose_sum(words: Words, axis: int, excess: Words) -> Words:
    """The sum of any 64-bit words over an axis; `excess` is that of what remains."""
    if words.shape[axis] > _MOST_SUMMED:
        raise InputError(f"{words.shape[axis]} words are too many to sum: 2^28 is the most")
    lower: Words = (words & _LOW_HALF).sum(axis=axis, dtype=_U64)
    upper: Words = (words >> _HALF).sum(axis=axis, dtype=_U64)
    above = upper >> (_U64(RESIDUE_BITS) - _HALF)
    lower += (upper << _HALF) & _LOW
    lower += above * excess
    return lower


def shifted(words: Words, by: NDArray[np.uint64], excess: Words) -> Words:
    """Residues times 2^by, loose; `by` from 0 to 61."""
    return loose(words << by, words >> (_U64(RESIDUE_BITS) - by), excess)

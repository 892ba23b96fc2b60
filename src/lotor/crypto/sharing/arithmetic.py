"""Products of masked values, and exact truncation."""

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.correlations import upper_half
from lotor.crypto.sharing.engine import HALF, RING, WORD, Engine
from lotor.crypto.sharing.masked import MaskedWords, Term
from lotor.crypto.sharing.shares import Shared, word
from lotor.crypto.sharing.words import Words

_SIGN = np.uint64(63)


def _own(engine: Engine, x: MaskedWords) -> Words:
    """A server's share of x: the first server's includes the public part."""
    return x.share + x.public if engine.first else x.share


def multiply(engine: Engine, x: MaskedWords, y: MaskedWords, ring: int = RING) -> Shared:
    """x · y, element by element, modulo 2^ring; the shares are not rescaled."""
    share = x.public * _own(engine, y) + y.public * x.share
    for left in x.terms:
        for right in y.terms:
            if left.power + right.power < 64:  # else the term is a multiple of 2^64
                dealt = engine.product(left, right, share.shape, ring).share
                share += _scaled(dealt, left, right)
    return Shared(share, first=engine.first)


def upper_outer(engine: Engine, x: MaskedWords, y: MaskedWords, ring: int = RING) -> Shared:
    """The upper half of the outer product of two vectors, row by row, modulo 2^ring."""
    rows, columns = upper_half(len(x.public))
    share = x.public[rows] * _own(engine, y)[columns] + x.share[rows] * y.public[columns]
    for left in x.terms:
        for right in y.terms:
            if left.power + right.power < 64:
                dealt = engine.upper_outer(left, right, len(rows), ring).share
                share += _scaled(dealt, left.moved(rows), right.moved(columns))
    return Shared(share, first=engine.first)


def multiply_three(engine: Engine, x: MaskedWords, y: MaskedWords, z: MaskedWords) -> Shared:
    """x · y · z, element by element, with nothing opened between: products of three are dealt."""
    share = z.public * multiply(engine, x, y).share + x.public * y.public * z.share
    for third in z.terms:
        # What the dealer deals for x · y, with one more factor.
        for factor, other in ((x, y), (y, x)):
            shape = np.broadcast(factor.public, z.public).shape
            for term in factor.terms:
                if term.power + third.power < 64:
                    dealt = engine.product(term, third, shape).share
                    share += other.public * _scaled(dealt, term, third)
        for left in x.terms:
            for right in y.terms:
                if left.power + right.power + third.power < 64:
                    pair = engine.product(left, right, np.broadcast(x.public, y.public).shape)
                    both = Term(1, pair.number, pair.share.dtype)
                    dealt = engine.product(both, third, share.shape).share
                    share += _scaled(dealt, left, right, third)
    return Shared(share, first=engine.first)


def contract(engine: Engine, x: MaskedWords, y: MaskedWords, ring: int = RING) -> Shared:
    """The product of a matrix (or a stack of them) x with a vector y, modulo 2^ring.

    Of two vectors, in (1,).
    """
    shape = x.shape[:-1] or (1,)
    # Reshaped before it is added: numpy warns of numbers that wrap around, and not of arrays.
    by_public: Words = (x.public @ _own(engine, y)).reshape(shape)
    share = by_public + (x.share @ y.public).reshape(shape)
    for left in x.terms:
        for right in y.terms:
            if left.power + right.power >= 64:
                continue
            if isinstance(left.coefficient, int) and isinstance(right.coefficient, int):
                dealt = engine.contraction(left, right, shape, ring).share
                share += _scaled(dealt, left, right)
            else:
                dealt = engine.product(left, right, x.shape).share
                share += _summed(dealt, left, right).reshape(shape)
    return Shared(share, first=engine.first)


def _scaled(dealt: Words, *terms: Term) -> Words:
    number, scaled = 1, dealt
    for term in terms:
        if isinstance(term.coefficient, int):
            number *= term.coefficient
        else:
            scaled = scaled * term.coefficient
    return scaled if number == 1 else scaled * word(number)


def _summed(dealt: Words, left: Term, right: Term) -> Words:
    """The same along the last axis, where at least one coefficient is not a number."""
    one, other = (right, left) if isinstance(left.coefficient, int) else (left, right)
    total: Words = np.vecdot(_scaled(dealt, other), one.coefficient)
    return total


def square(engine: Engine, x: MaskedWords) -> Shared:
    """x²: the dealer deals a² once (the paper's Beaver pair)."""
    return multiply(engine, x, x)


def truncate(engine: Engine, z: Shared, bits: int) -> Circuit[MaskedWords]:
    """z / 2^bits for |z| < 2^62: off by less than one, never by a wrap, and right on average.

    With t = z + 2^62 below 2^63, c = t + r is opened. It wraps around just when r's sign bit is
    set and c's is not: that is linear in what the dealer shares of r, where the paper's
    Algorithm 3 takes it for zero, and fails with probability |z| / 2^64.
    """
    r = engine.uniform(z.shape, WORD, xor=False)
    n, shift = r.number, np.uint64(bits)
    less = engine.dealt(lambda v: -(v[n] >> shift), z.shape, WORD, xor=False)
    # It is multiplied by 2^(64 - bits), so that only its lowest bits count.
    width = HALF if bits <= 32 else WORD
    sign = engine.dealt(lambda v: (v[n] >> _SIGN).astype(width), z.shape, width, xor=False)
    (c,) = yield [OpeningShare((z + (1 << 62)).share + r.share, xor=False)]
    wraps = (np.uint64(1) - (c >> _SIGN)) << np.uint64(64 - bits)
    public = (c >> shift) - np.uint64(1 << (62 - bits))
    terms = Term(1, less.number, WORD), Term(wraps, sign.number, width, 64 - bits)
    return MaskedWords(public, less.share + sign.share * wraps, terms)


def settled(engine: Engine, x: MaskedWords) -> Shared:
    """A masked value as one that is merely shared."""
    return Shared(_own(engine, x), first=engine.first)

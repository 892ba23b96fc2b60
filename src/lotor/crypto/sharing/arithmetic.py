"""Products of masked values, and exact truncation."""

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, Part
from lotor.crypto.sharing.engine import WORD, Engine
from lotor.crypto.sharing.masked import Masked, Term
from lotor.crypto.sharing.shares import Shared, word
from lotor.crypto.sharing.words import Words

_SIGN = np.uint64(63)


def offset(x: Masked) -> Words:
    """A server's share of x less its public part."""
    total: Words | None = None
    for term in x.terms:
        if isinstance(term.coefficient, int) and term.coefficient == 1:
            part = term.secret.share
        else:
            part = term.secret.share * word(term.coefficient)
        total = part if total is None else total + part
    return total if total is not None else np.zeros_like(x.public)


def _own(engine: Engine, x: Masked) -> Words:
    """A server's share of x, whose public part is the first one's."""
    return offset(x) + x.public if engine.first else offset(x)


def multiply(engine: Engine, x: Masked, y: Masked) -> Shared:
    """x · y, element by element; the shares are not rescaled."""
    share = x.public * _own(engine, y) + y.public * offset(x)
    for left in x.terms:
        for right in y.terms:
            if left.power + right.power < 64:  # else the term is a multiple of 2^64
                dealt = engine.product(left.secret, right.secret).share
                share += _scaled(dealt, left, right)
    return Shared(share, first=engine.first)


def contract(engine: Engine, x: Masked, y: Masked) -> Shared:
    """The product of a matrix (or a stack of them) x with a vector y; of two vectors, in (1,)."""
    shape = x.shape[:-1] or (1,)
    # Reshaped before it is added: numpy warns of numbers that wrap around, and not of arrays.
    by_public: Words = (x.public @ _own(engine, y)).reshape(shape)
    share = by_public + (offset(x) @ y.public).reshape(shape)
    for left in x.terms:
        for right in y.terms:
            if left.power + right.power >= 64:
                continue
            if isinstance(left.coefficient, int) and isinstance(right.coefficient, int):
                dealt = engine.contraction(left.secret, right.secret).share
                share += _scaled(dealt, left, right)
            else:
                dealt = engine.product(left.secret, right.secret).share
                products = _scaled(dealt, left, right)
                share += products.sum(axis=-1, dtype=np.uint64).reshape(shape)
    return Shared(share, first=engine.first)


def _scaled(dealt: Words, left: Term, right: Term) -> Words:
    number, scaled = 1, dealt
    for coefficient in (left.coefficient, right.coefficient):
        if isinstance(coefficient, int):
            number *= coefficient
        else:
            scaled = scaled * coefficient
    return scaled if number == 1 else scaled * word(number)


def square(engine: Engine, x: Masked) -> Shared:
    """x²: the dealer deals a² once (the paper's Beaver pair)."""
    return multiply(engine, x, x)


def truncate(engine: Engine, z: Shared, bits: int) -> Circuit[Masked]:
    """z / 2^bits for |z| < 2^62: off by less than one, never by a wrap, and right on average.

    With t = z + 2^62 below 2^63, c = t + r is opened. It wraps around just when r's sign bit is
    set and c's is not: that is linear in what the dealer shares of r, where the paper's
    Algorithm 3 takes it for zero, and fails with probability |z| / 2^64.
    """
    r = engine.uniform(z.shape, WORD, xor=False)
    n, shift = r.number, np.uint64(bits)
    less = engine.dealt(lambda v: -(v[n] >> shift), z.shape, WORD, xor=False)
    sign = engine.dealt(lambda v: v[n] >> _SIGN, z.shape, WORD, xor=False)
    (opened,) = yield [Part((z + (1 << 62)).share + r.share, xor=False)]
    c: Words = opened.astype(np.uint64, copy=False)
    wraps = (np.uint64(1) - (c >> _SIGN)) << np.uint64(64 - bits)
    public = (c >> shift) - np.uint64(1 << (62 - bits))
    return Masked(public, (Term(1, less), Term(wraps, sign, 64 - bits)))


def settled(engine: Engine, x: Masked) -> Shared:
    """A masked value as one that is merely shared."""
    return Shared(_own(engine, x), first=engine.first)

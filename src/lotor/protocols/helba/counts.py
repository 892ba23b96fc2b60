"""How often parts of a circuit do what, by operation and level.

An operation's price depends on how many primes are left. A `multiply` is one product of
ciphertexts, a square included.
"""

from collections import Counter
from typing import TypeAlias

from lotor.crypto.ckks import SignPolynomial, upper_places
from lotor.crypto.ckks.adjugate import minors_for
from lotor.crypto.ckks.sign import STAGE_LEVELS

Counts: TypeAlias = Counter[tuple[str, int]]


def products(counts: Counts, count: int, level: int) -> None:
    """A sum of so many products, relinearised and rescaled once."""
    counts["multiply", level] += count
    counts["relinearise", level] += 1
    counts["rescale", level] += 1


def comparison(counts: Counts, polynomial: SignPolynomial, level: int) -> int:
    """The sign of what is at this level; the level where it ends."""
    for degree in polynomial.degrees:
        _stage(counts, degree, level)
        level += STAGE_LEVELS[degree]
    return level


def pairs_product(counts: Counts, rotations: int, level: int) -> int:
    """The product over each arm's pairs; the level where it ends."""
    for _ in range(rotations):
        counts["rotate", level] += 1
        products(counts, 1, level)
        level += 1
    return level


def _stage(counts: Counts, degree: int, level: int) -> None:
    products(counts, 1, level)  # the square
    products(counts, 1, level + 1)
    if degree == 7:
        products(counts, 1, level + 1)
        products(counts, 1, level + 2)


def adjugate(counts: Counts, d: int) -> None:
    entries = len(upper_places(d))
    if d == 3:
        for _ in range(entries):
            products(counts, 2, 0)
    if d in (4, 5):
        for _ in minors_for(d, upper_places(d)):
            products(counts, 2, 0)
        # Cofactors of size 3 by a row, of size 4 by pairs of rows.
        for _ in range(entries):
            products(counts, 3 if d == 4 else 6, 1)


def newton(counts: Counts, d: int, levels: int, first: int = 0) -> None:
    """N and X, entry by entry; the first X costs nothing, and the last N is not needed."""
    entries = len(upper_places(d))
    for level in range(first, first + levels - 1):
        for _ in range(entries):
            products(counts, d, level)
    for level in range(first + 1, first + levels):
        for _ in range(entries):
            products(counts, d, level)

"""How many operations the parts of a circuit take, by operation and level.

An operation's price depends on how many primes are left. A `multiply` is one product of
ciphertexts, a square included.
"""

from collections import Counter
from typing import TypeAlias

import numpy as np
from numpy.polynomial import chebyshev

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import ChebyshevSeries, SignPolynomial, upper_places
from lotor.crypto.ckks.adjugate import minors_for
from lotor.crypto.ckks.chebyshev import leaf_size, trimmed
from lotor.crypto.ckks.sign import STAGE_LEVELS

Counts: TypeAlias = Counter[tuple[str, int]]


def products(counts: Counts, count: int, level: int) -> None:
    """Count a sum of so many products, relinearised and rescaled once."""
    counts["multiply", level] += count
    counts["relinearise", level] += 1
    counts["rescale", level] += 1


def comparison(counts: Counts, polynomial: SignPolynomial, level: int) -> int:
    """Count the sign of a number at this level; returns the level where it ends."""
    for degree in polynomial.degrees:
        _stage(counts, degree, level)
        level += STAGE_LEVELS[degree]
    return level


def pairs_product(counts: Counts, rotations: int, level: int) -> int:
    """Count the product over each arm's pairs; returns the level where it ends."""
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
    """Count all cofactors."""
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
    """Count N and X, entry by entry; the first X costs nothing, and the last N is not needed."""
    entries = len(upper_places(d))
    for level in range(first, first + levels - 1):
        for _ in range(entries):
            products(counts, d, level)
    for level in range(first + 1, first + levels):
        for _ in range(entries):
            products(counts, d, level)


def series_counts(series: ChebyshevSeries, level: int) -> Counts:
    """What `ChebyshevSeries.evaluate` does for a series whose argument is at this level."""
    counting = _SeriesCounts(level, leaf_size(series.degree))
    counting.series(np.array(series.coefficients), level + series.levels)
    return counting.counts


def moved(counts: Counts, count: int, level: int) -> None:
    """Count so many public multiples that end at this level."""
    counts["multiply_plain", level - 1] += count
    counts["rescale", level - 1] += count


class _SeriesCounts:
    """Follows the evaluation of a series step by step."""

    def __init__(self, top: int, leaf: int) -> None:
        self.counts: Counts = Counter()
        self._top = top
        self._leaf = leaf
        self._levels = {1: top}

    def _t(self, degree: int) -> int:
        """The level of T of this degree."""
        if degree not in self._levels:
            half = 1 << (degree - 1).bit_length() - 1
            rest = degree - half
            level = max(self._t(half), self._t(rest))
            products(self.counts, 1, level)
            self._levels[degree] = level + 1
            if half != rest:
                self._t(half - rest)
                moved(self.counts, 1, level + 1)
        return self._levels[degree]

    def series(self, c: Floats, level: int) -> None:
        degree = len(c) - 1
        enough = self._top + max(degree - 1, 0).bit_length() + 1
        if degree < self._leaf and enough <= level:
            self._sum(c, level)
            return
        split = 1 << degree.bit_length() - 1
        quotient, remainder = chebyshev.chebdiv(c, np.eye(split + 1)[split])
        self._times(trimmed(quotient), split, level)
        remainder = trimmed(remainder)
        if len(remainder) > 1:
            self.series(remainder, level)

    def _times(self, quotient: Floats, split: int, level: int) -> None:
        self._t(split)
        if len(quotient) == 1:
            moved(self.counts, 1, level)
            return
        self.series(quotient, level - 1)
        products(self.counts, 1, level - 1)

    def _sum(self, c: Floats, level: int) -> None:
        for place in range(1, len(c)):
            self._t(place)
        self.counts["multiply_plain", level - 1] += len(c) - 1
        self.counts["rescale", level - 1] += 1

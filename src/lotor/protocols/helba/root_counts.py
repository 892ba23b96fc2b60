"""How often the evaluation of a Chebyshev series does what: as `ChebyshevSeries.evaluate` does."""

from collections import Counter

import numpy as np
from numpy.polynomial import chebyshev

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import ChebyshevSeries
from lotor.crypto.ckks.chebyshev import leaf_size, trimmed
from lotor.protocols.helba.counts import Counts, products


def series_counts(series: ChebyshevSeries, level: int) -> Counts:
    """Of a series whose argument is at this level."""
    counting = _Counting(level, leaf_size(series.degree))
    counting.series(np.array(series.coefficients), level + series.levels)
    return counting.counts


def moved(counts: Counts, count: int, level: int) -> None:
    """So many public multiples that end at this level."""
    counts["multiply_plain", level - 1] += count
    counts["rescale", level - 1] += count


class _Counting:
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

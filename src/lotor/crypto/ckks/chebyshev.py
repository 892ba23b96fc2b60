"""Any smooth function on a public range, as a Chebyshev series in as few levels as possible.

Degree up to 2^k - 1 takes k levels: the series is divided again and again by
polynomials T whose degrees are powers of two, and what is left is summed with public factors, right
at the level and scale where it is needed.

Reference: M. Paterson and L. Stockmeyer, SIAM J. Comput. 2, 1973; in Chebyshev form: H. Chen,
I. Chillotti and Y. Song, EUROCRYPT 2019.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2, pi
from typing import Final

import numpy as np
from numpy.polynomial import chebyshev

from lotor.core.errors import InputError
from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.formulas import Array, Encrypted, require_levels
from lotor.crypto.ckks.minimax import exchange

_GRID: Final = 20_001
_NEGLIGIBLE: Final = 1e-13


@dataclass(frozen=True, slots=True)
class ChebyshevSeries:
    """A series in u = (2x - low - high) / (high - low), which lies between -1 and 1.

    `evaluate` expects u; `error` is the largest distance to the function that it was fitted to,
    on a grid that is dense at both ends.
    """

    low: float
    high: float
    coefficients: tuple[float, ...]
    error: float

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    @property
    def levels(self) -> int:
        """How many levels it takes."""
        return ceil(log2(self.degree + 1))

    def normalised(self, x: Array) -> Array:
        """u, for public or still unencrypted x."""
        return np.asarray((2 * x - self.low - self.high) / (self.high - self.low))

    def plain(self, x: Array) -> Array:
        """The series at x, in clear."""
        return np.asarray(chebyshev.chebval(self.normalised(x), self.coefficients))

    def evaluate(self, u: Encrypted) -> Encrypted:
        """The series at an encrypted u."""
        require_levels(u, self.levels)
        evaluation = _Evaluation(u, leaf_size(self.degree))
        level = u.level + self.levels
        scale = u.evaluator.parameters.scales[level]
        return Encrypted(u.evaluator, evaluation.series(np.array(self.coefficients), level, scale))


def fit(
    function: Callable[[Array], Array], low: float, high: float, degree: int
) -> ChebyshevSeries:
    """The series of this degree with the smallest largest distance to a continuous function."""
    if not low < high or degree < 1:
        raise InputError(f"low={low}, high={high}, degree={degree}: take low < high and degree > 0")
    # Even in the angle the points are dense at both ends, where such functions bend most.
    u = -np.cos(np.linspace(0, pi, _GRID))
    target = function((low + high) / 2 + (high - low) / 2 * u)
    basis = np.asarray(chebyshev.chebvander(u, degree), dtype=np.float64)
    coefficients = exchange(u, basis, target)
    error = float(np.max(np.abs(basis @ coefficients - target)))
    kept = trimmed(coefficients)
    if len(kept) == 1:
        raise InputError("this function is constant on the range: there is nothing to evaluate")
    return ChebyshevSeries(low, high, tuple(float(c) for c in kept), error)


def trimmed(c: Array) -> Array:
    """The coefficients without the negligible ones at the end."""
    return np.asarray(chebyshev.chebtrim(c, _NEGLIGIBLE), dtype=np.float64)


@lru_cache
def square_root(high: float, degree: int) -> ChebyshevSeries:
    """sqrt on [0, high]; it may come out slightly negative near 0.

    >>> root = square_root(4.0, 27)
    >>> root.levels, round(root.error / 2, 3)
    (5, 0.005)
    """
    if not high > 0:
        raise InputError(f"high={high}: the range of a square root is positive")
    return fit(lambda x: np.sqrt(np.maximum(x, 0)), 0.0, high, degree)


def leaf_size(degree: int) -> int:
    """How many terms are summed directly: the power of two with the fewest products."""
    terms = degree + 1

    def products(size: int) -> int:
        return max(size - 2, 0) + ceil(log2(max(terms / size, 1))) + ceil(terms / size) - 1

    return min((2, 4, 8, 16), key=products)


class _Evaluation:
    """One evaluation: the polynomials T of one u, each computed when first needed."""

    def __init__(self, u: Encrypted, leaf: int) -> None:
        self._t = {1: u}
        self._evaluator = u.evaluator
        self._top = u.level
        self._leaf = leaf

    def t(self, degree: int) -> Encrypted:
        """T of this degree: ceil(log2(degree)) levels down."""
        if degree not in self._t:
            half = 1 << (degree - 1).bit_length() - 1
            rest = degree - half
            doubled = 2 * (self.t(half) * self.t(rest))
            self._t[degree] = doubled - (1.0 if half == rest else self.t(half - rest))
        return self._t[degree]

    def series(self, c: Array, level: int, scale: float) -> Ciphertext:
        """The series with these coefficients, at exactly this level and scale."""
        degree = len(c) - 1
        enough = self._top + max(degree - 1, 0).bit_length() + 1
        if degree < self._leaf and enough <= level:
            return self._sum(c, level, scale)
        split = 1 << degree.bit_length() - 1
        quotient, remainder = chebyshev.chebdiv(c, np.eye(split + 1)[split])
        product = self._times(trimmed(quotient), split, level, scale)
        remainder = trimmed(remainder)
        if len(remainder) == 1:
            return self._evaluator.add_plain(product, float(remainder[0]))
        return self._evaluator.add(product, self.series(remainder, level, scale))

    def _times(self, quotient: Array, split: int, level: int, scale: float) -> Ciphertext:
        """The quotient's series times T of degree `split`."""
        power = self.t(split).ciphertext
        if len(quotient) == 1:
            return self._evaluator.weighted_sum(
                [(float(quotient[0]), power)], level=level, scale=scale
            )
        # The scale of the one factor that brings the product to the scale asked for.
        before = scale * self._evaluator.parameters.dropped_prime(level - 1) / power.scale
        return self._evaluator.multiply(self.series(quotient, level - 1, before), power)

    def _sum(self, c: Array, level: int, scale: float) -> Ciphertext:
        terms = [
            (float(factor), self.t(place).ciphertext)
            for place, factor in enumerate(c)
            if place and abs(factor) > _NEGLIGIBLE
        ]
        return self._evaluator.weighted_sum(terms, float(c[0]), level=level, scale=scale)

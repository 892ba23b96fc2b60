"""Polynomials with the smallest largest error on a range, by Remez' exchange.

For signs: the odd polynomial of a degree that stays closest to 1 on [low, 1].

Reference: E. Lee, J.-W. Lee, J.-S. No and Y.-S. Kim, Minimax approximation of sign function by
composite polynomial for homomorphic comparison, IEEE TDSC 2021.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.polynomial import Polynomial, chebyshev

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.ckks.formulas import Array

_GRID: Final = 4000
_EXCHANGES: Final = 60


@dataclass(frozen=True, slots=True)
class OddPolynomial:
    """c[0]·x + c[1]·x³ + c[2]·x⁵ + …; near 1 up to `error` where it was fitted."""

    coefficients: tuple[float, ...]
    error: float

    def __call__(self, x: Array) -> Array:
        y = x * x
        return np.asarray(x * np.polyval(self.coefficients[::-1], y))

    def image(self, low: float, high: float) -> tuple[float, float]:
        """The smallest and the largest value on [low, high], from its turning points."""
        return _image(self.coefficients, low, high)

    def stretched(self, high: float) -> "OddPolynomial":
        """The polynomial of x / high."""
        scaled = (c / high ** (2 * k + 1) for k, c in enumerate(self.coefficients))
        return OddPolynomial(tuple(scaled), self.error)


def odd_minimax(degree: int, low: float) -> OddPolynomial:
    """The odd polynomial of this degree with the smallest largest distance to 1 on [low, 1]."""
    if degree < 1 or degree % 2 == 0 or not 0 < low < 1:
        raise InputError(f"degree={degree}, low={low}: the degree must be odd and 0 < low < 1")
    grid = np.unique(np.concatenate([np.geomspace(low, 1, _GRID), np.linspace(low, 1, _GRID)]))
    basis = chebyshev.chebvander(grid, degree)[:, 1::2]
    return _exact(exchange(grid, basis, np.ones(grid.size)), degree, low)


def exchange(grid: Array, basis: Array, target: Array) -> Array:
    """The coefficients whose sum over the basis stays closest to the target on an ordered grid."""
    terms = basis.shape[1]
    signs = (-1.0) ** np.arange(terms + 1)
    middle, half = (grid[0] + grid[-1]) / 2, (grid[-1] - grid[0]) / 2
    nodes = np.searchsorted(grid, middle - half * np.cos(np.pi * np.arange(terms + 1) / terms))
    nodes = np.minimum(nodes, grid.size - 1)
    rounding = 1e-13 * max(1.0, float(np.max(np.abs(target))))
    for _ in range(_EXCHANGES):
        *solution, levelled = _levelled(np.column_stack([basis[nodes], signs]), target[nodes])
        distance = basis @ solution - target
        if np.max(np.abs(distance)) <= abs(levelled) * (1 + 1e-6) + rounding:
            return np.array(solution)
        nodes = np.array(_alternating(distance, terms + 1))
    raise CryptoError("no best polynomial was found: take another degree or a smaller range")


def _levelled(system: Array, target: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(system, target))
    except np.linalg.LinAlgError:
        raise CryptoError(
            "no best polynomial was found: the range is too narrow for this degree"
        ) from None


def _alternating(distance: Array, count: int) -> list[int]:
    """The places of the largest distances, of alternating sign."""
    runs = np.split(np.arange(distance.size), np.flatnonzero(np.diff(np.sign(distance))) + 1)
    places = [int(run[np.argmax(np.abs(distance[run]))]) for run in runs]
    if len(places) < count:
        raise CryptoError("the exchange of the best polynomial's nodes does not converge")
    while len(places) > count:
        places.pop(0 if abs(distance[places[0]]) < abs(distance[places[-1]]) else -1)
    return places


def _exact(solution: Array, degree: int, low: float) -> OddPolynomial:
    series = np.zeros(degree + 1)
    series[1::2] = solution
    coefficients = tuple(float(c) for c in chebyshev.cheb2poly(series)[1::2])
    smallest, largest = _image(coefficients, low, 1.0)
    return OddPolynomial(coefficients, max(1 - smallest, largest - 1))


def _image(coefficients: tuple[float, ...], low: float, high: float) -> tuple[float, float]:
    slope = Polynomial([(2 * k + 1) * c for k, c in enumerate(coefficients)])
    turning = slope.roots()
    squares = turning.real[np.abs(turning.imag) < 1e-6]
    inside = np.sqrt(squares[(squares > low * low) & (squares < high * high)])
    points = np.array([low, high, *inside])
    values = points * np.polyval(coefficients[::-1], points * points)
    return float(values.min()), float(values.max())

"""The paper's index as formulas: on ciphertexts, and on arrays as their plain twin.

With X = ridge·V^-1 and h = w/W of the batch, slots of the first half hold an arm and those of the
second half its opponent (see `MirroredPairs`). An arm's z = <V^-1, x x^T> goes through a polynomial
for beta·sqrt(z + eps), one rotation gives differences of pairs, and <x - y, w> is added.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    ChebyshevSeries,
    Encrypted,
    SignPolynomial,
    SymmetricMatrix,
    dot,
    inverse,
    square_root,
    upper_places,
)
from lotor.crypto.ckks.formulas import Number, rotate
from lotor.protocols.helba.circuit import Estimate, Spot, Sums
from lotor.protocols.helba.mirrored import MirroredPairs
from lotor.protocols.helba.root_bounds import RootBounds


class EstimateSpots(NamedTuple):
    """Where the sums are needed for an estimate, and where X and h are masked."""

    sums: Spot
    x: Spot
    h: Spot


@lru_cache
def unit_root(degree: int) -> ChebyshevSeries:
    """The root on [0, 1], from which that on any range follows."""
    return square_root(1.0, degree)


def estimate(
    sums: Sums[Number], bounds: RootBounds, start: int, spots: EstimateSpots
) -> Estimate[Number]:
    """Of all rounds before `start` (line 15), where and how it can be refreshed."""
    v_scale, g_scale = bounds.v_scale(start), bounds.g_scale(start)
    v = sums.v.map(lambda _, entry: times(entry, v_scale / bounds.v_factor, spots.sums))
    g = [times(entry, g_scale / bounds.g_factor, spots.sums) for entry in sums.g]
    x = inverse(v, bounds.newton(start))
    h = [dot([(x[i, j], g[j]) for j in range(x.size)]) for i in range(x.size)]
    x_unit, h_unit = bounds.x_unit(start), bounds.h_unit(start)
    return Estimate(
        x.map(lambda _, entry: times(entry, x_unit, spots.x)),
        tuple(times(entry, h_unit, spots.h) for entry in h),
    )


def differences(
    of: Estimate[Number],
    contexts: Sequence[Number],
    pairs: MirroredPairs,
    root: ChebyshevSeries,
    offset: float,
) -> Number:
    """The differences of all pairs' indices (lines 6 and 7), scaled for the comparison.

    `root` has beta and that scale in its coefficients, and expects u = z's part of it + `offset`.
    """
    listed, squares = of.listed(), len(upper_places(of.x.size))
    u = dot(list(zip(listed[:squares], contexts[:squares], strict=True))) + offset
    roots = at(root, u)
    linear = dot(list(zip(listed[squares:], contexts[squares:], strict=True)))
    return roots - rotate(roots, pairs.half) + linear


def doubt(
    x: SymmetricMatrix[Number],
    batch: SymmetricMatrix[Number],
    bounds: RootBounds,
    comparison: SignPolynomial,
    coin: Floats,
    spot: Spot,
) -> Number:
    """The sign of condition (8) times a coin of ±1, where `coin` is not 0; elsewhere nothing.

    `batch` is the sum of x x^T since the batch began; both are brought to this spot.
    """
    policy = bounds.policy
    unit = coin * (comparison.factor / bounds.switch)
    per = unit / (policy.ridge * bounds.v_factor)
    pairs = [
        (times(x[i, j], 1.0, spot), times(batch[i, j], per * (1 if i == j else 2), spot))
        for i, j in upper_places(x.size)
    ]
    return comparison.evaluate(dot(pairs) - unit * (policy.C or 0.0))


def times(x: Number, factor: float | Floats, spot: Spot) -> Number:
    """A public multiple, in encrypted form at this level and scale."""
    if isinstance(x, Encrypted):
        moved = x.evaluator.weighted_sum(
            [(factor, x.ciphertext)], level=spot.level, scale=spot.scale
        )
        return Encrypted(x.evaluator, moved)
    return x * factor


def at(series: ChebyshevSeries, u: Number) -> Number:
    """The series at u."""
    if isinstance(u, Encrypted):
        return series.evaluate(u)
    return np.asarray(chebyshev.chebval(u, series.coefficients))


def scaled_root(bounds: RootBounds, degree: int, start: int, factor: float) -> ChebyshevSeries:
    """factor·sqrt(y) for y up to `bounds.longest`, as a series in u = 2y/longest - 1."""
    unit, high = unit_root(degree), bounds.longest(start)
    grown = factor * sqrt(high)
    coefficients = tuple(c * grown for c in unit.coefficients)
    return replace(unit, high=high, coefficients=coefficients, error=unit.error * abs(grown))

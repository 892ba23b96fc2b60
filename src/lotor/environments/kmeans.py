"""K-means: clusters of contexts, and rewards that fall with the distance from a centre."""

import numpy as np

from lotor.core.draws import to_uniform
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float

_ITERATIONS = 100
# It ends when an iteration lowers the sum of squared distances by less than this share.
_ENOUGH = 1e-4


def kmeans(rows: Floats, k: int, *, seed: int) -> Floats:
    """The centres of k clusters: Lloyd's iterations after k-means++ (Arthur, Vassilvitskii, 2007).

    >>> centres = kmeans(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, seed=1)
    >>> np.round(np.sort(centres, axis=0), 9).tolist()
    [[0.05], [0.95]]
    """
    if not isinstance(k, int | np.integer) or not 1 <= k <= len(rows):
        raise InputError(f"k is {k!r}: give a number of clusters from 1 to {len(rows)}, the rows")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
    centres = _first_centres(rows, int(k), seed)
    before = np.inf
    for _ in range(_ITERATIONS):
        distances = squared_distances(rows, centres)
        nearest = distances.argmin(axis=1)
        total = float(distances.min(axis=1).sum())
        counts = np.bincount(nearest, minlength=len(centres))
        # An empty cluster keeps its centre.
        kept = counts > 0
        sums = np.stack([np.bincount(nearest, column, len(centres)) for column in rows.T], axis=1)
        centres[kept] = sums[kept] / counts[kept, np.newaxis]
        if total >= (1 - _ENOUGH) * before:
            break
        before = total
    return centres


def kernel(rows: Floats, centres: Floats, sigma: float) -> Floats:
    """exp(-|c - x|^2 / (2 sigma^2)) for each row x and each centre c."""
    width = to_float("sigma", sigma)
    if not 0 < width < np.inf:
        raise InputError(f"sigma is {sigma!r}: give a distance above 0, such as 0.5")
    values: Floats = np.exp(-squared_distances(rows, centres) / (2 * width**2))
    return values


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """From each row to each centre."""
    products = rows @ centres.T
    distances: Floats = (
        np.square(rows).sum(axis=1, keepdims=True) - 2 * products + np.square(centres).sum(axis=1)
    )
    # Rounding may leave a distance of 0 just below it.
    return np.maximum(distances, 0.0)


def _first_centres(rows: Floats, k: int, seed: int) -> Floats:
    """Rows far from each other: each with a probability that grows with its squared distance."""
    bits = np.random.PCG64(np.random.SeedSequence(seed))
    draws = to_uniform(bits.random_raw(k))
    chosen = [int(draws[0] * len(rows))]
    nearest = squared_distances(rows, rows[chosen])[:, 0]
    for draw in draws[1:]:
        sums = np.cumsum(nearest)
        place = int(np.searchsorted(sums, draw * sums[-1], side="right"))
        chosen.append(min(place, len(rows) - 1))
        latest = squared_distances(rows, rows[chosen[-1:]])[:, 0]
        nearest = np.minimum(nearest, latest)
    return rows[chosen].copy()

"""How often a guess is right by chance: what attacks are measured against."""

from collections.abc import Sequence

import numpy as np


def blind(values: Sequence[float], tolerance: float = 0.0) -> float:
    """The share of values that are within `tolerance` of one number, if it is the best one.

    Whoever knows how values are distributed and nothing of each one can guess that often.

    >>> blind([0, 1, 1, 2])
    0.5
    >>> blind([0, 3, 4, 4.5], tolerance=1)
    0.75
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not len(ordered):
        return 0.0
    ends = np.searchsorted(ordered, ordered + 2 * tolerance, side="right")
    return float((ends - np.arange(len(ordered))).max()) / len(ordered)


def random_direction(d: int, cosine: float) -> float:
    """How often a random direction in d dimensions has a larger cosine, from 0, with a given one.

    >>> [round(random_direction(d, 0.9), 3) for d in (1, 2, 3, 5)]
    [0.5, 0.144, 0.05, 0.007]
    """
    if d == 1:
        return 0.5
    from scipy.special import betainc  # noqa: PLC0415

    return float(betainc((d - 1) / 2, 0.5, 1 - cosine * cosine)) / 2

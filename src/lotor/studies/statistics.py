"""Means of repeated runs, with how far they can be trusted."""

from collections.abc import Sequence
from math import fsum, sqrt

import msgspec

LEVEL = 0.95
"""With which probability a band holds the true mean, if runs are normal."""


class MeanBand(msgspec.Struct, frozen=True):
    """The mean of some runs, their standard deviation, and the band of the mean.

    One run has neither deviation nor band.
    """

    runs: int
    mean: float
    sd: float | None
    low: float | None
    high: float | None


def mean_band(values: Sequence[float]) -> MeanBand:
    """The mean of some values, with Student's band around it.

    >>> found = mean_band([1.0, 2.0, 3.0])
    >>> found.mean, found.sd, round(found.low, 3), round(found.high, 3)
    (2.0, 1.0, -0.484, 4.484)
    >>> mean_band([5.0])
    MeanBand(runs=1, mean=5.0, sd=None, low=None, high=None)
    """
    runs = len(values)
    mean = fsum(values) / runs
    if runs == 1:
        return MeanBand(runs, mean, None, None, None)
    from scipy.special import stdtrit  # noqa: PLC0415 (Student's quantiles; takes a while)

    sd = sqrt(fsum((value - mean) ** 2 for value in values) / (runs - 1))
    half = float(stdtrit(runs - 1, (1 + LEVEL) / 2)) * sd / sqrt(runs)
    return MeanBand(runs, mean, sd, mean - half, mean + half)

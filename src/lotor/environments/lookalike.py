"""Arms whose means resemble those of a rating data set, without its data."""

import numpy as np

from lotor.core.errors import InputError
from lotor.environments.bernoulli import BernoulliArms

_POPULATION = 100

LOOKALIKES: dict[str, tuple[float, float]] = {
    "jester-like": (2.256, 8.544),
    "movielens-like": (0.808, 7.21),
}
"""The parameters (a, b) of the Beta distribution of each look-alike's means."""


def lookalike(name: str, k: int) -> BernoulliArms:
    """The k best of max(100, k) arms whose means are evenly spaced quantiles of a Beta law.

    Nothing is drawn: the same name and k always give the same arms, best first.

    >>> [round(mean, 3) for mean in lookalike("movielens-like", 3).means]
    [0.492, 0.41, 0.368]
    """
    from scipy.special import betaincinv  # noqa: PLC0415

    if name not in LOOKALIKES:
        raise InputError(f"no look-alike is called {name!r}: choose {' or '.join(LOOKALIKES)}")
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is {k!r}, but a run needs at least one arm: give a number from 1 up")
    a, b = LOOKALIKES[name]
    population = max(_POPULATION, k)
    ranks = np.arange(population, population - k, -1)
    means: list[float] = betaincinv(a, b, (ranks - 0.5) / population).tolist()
    return BernoulliArms(means)

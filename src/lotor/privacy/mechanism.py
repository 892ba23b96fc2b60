"""What one arm tells: epsilon-greedy is randomised response over the arms (Warner, 1965).

With A arms, the greedy arm comes out with probability p = 1 - epsilon + epsilon/A and every other
arm with q = epsilon/A. The *loss* of an arm is the logarithm of how much more likely it is under
one context than under another. All figures hold for one step: its context is replaced by any
other one, and what the model learnt before is the same. Random ties change nothing: they mix
distributions of this kind, and no figure of a mixture is larger than that of its worst part.
"""

from functools import lru_cache
from math import inf, isfinite, log, log1p

import numpy as np

from lotor.core.fixed_point import Floats

# Orders of the Rényi divergence, less 1. Every order gives a valid bound; these are close enough
# together to come within 10^-4 of the best one wherever a bound is of use.
EXCESS: Floats = np.geomspace(1e-6, 1e10, 4001)
EXCESS.flags.writeable = False


def largest_loss(arms: int, epsilon: float) -> float:
    """log(p/q) = log(A/epsilon - A + 1), reached when the two contexts have other greedy arms.

    >>> round(largest_loss(10, 0.1), 2)
    4.51
    """
    if arms == 1:
        return 0.0
    if epsilon == 0.0:
        return inf
    odds = arms * (1.0 - epsilon) / epsilon
    # Beyond the largest float, 1 does not count any more.
    return log1p(odds) if isfinite(odds) else log(arms) - log(epsilon)


def paper_loss(arms: int, epsilon: float) -> float:
    """log(A/epsilon), the paper's Theorem 1: never below the largest loss of one step."""
    return log(arms) - log(epsilon) if epsilon > 0.0 else inf


def mean_loss(arms: int, epsilon: float) -> float:
    """The Kullback-Leibler divergence, (p - q) log(p/q)."""
    return (1.0 - epsilon) * largest_loss(arms, epsilon)


@lru_cache(maxsize=32)
def renyi_divergences(arms: int, epsilon: float) -> Floats:
    """The Rényi divergence at every order 1 + h of `EXCESS`, for epsilon in (0, 1) and 2 arms up.

    It is log(p e^x + q e^-x + 1 - p - q) / h with x = h log(p/q). The sum less 1 is
    p e^x (1 - e^-x) (1 - e^-(x + log(p/q))), which loses no digits, however small.
    """
    loss = largest_loss(arms, epsilon)
    x = EXCESS * loss
    p = 1.0 - epsilon + epsilon / arms
    beyond = log(p) + x + np.log(-np.expm1(-x)) + np.log(-np.expm1(-(x + loss)))
    divergences: Floats = np.logaddexp(0.0, beyond) / EXCESS
    divergences.flags.writeable = False
    return divergences

"""KL-UCB."""

from dataclasses import dataclass
from math import isfinite, log

import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float
from lotor.policies.base import ArmStates, Policy

# Below the resolution of scores, which is 2^-40, with their logarithms still in reach.
_LEAST_MEAN = 2.0**-53
_LEAST_GAP = 2.0**-64
# From where it starts, Newton's method comes as close as floats can in five steps.
_STEPS = 6


@dataclass(frozen=True, slots=True)
class KLUCB(Policy):
    """UCB with the bounds of Bernoulli rewards (Garivier and Cappé, 2011).

    The score is the largest q with n kl(mean, q) <= ln t + c ln ln t, where kl is the divergence
    of two Bernoulli distributions. The bound holds for all rewards in [0, 1] and is never wider
    than that of UCB, most of all where means are close to 0 or 1. `c` is 3 in the theorem and 0
    in the authors' experiments.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.run(lotor.KLUCB(), arms, budget=100, seed=1).arms.count(0) > 80
    True
    """

    c: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", to_float("c", self.c))
        if not (isfinite(self.c) and self.c >= 0.0):
            raise InputError(f"c is {self.c}: give a finite number from 0 up")

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        # The second logarithm is negative in round 2, where a bound must not be either.
        level = log(t) + self.c * log(max(log(t), 1.0))
        return upper_bound(arms.mean, level / arms.n)


def upper_bound(mean: Floats, divergence: Floats) -> Floats:
    """The largest q with kl(mean, q) <= divergence, elementwise; both are vectors.

    With y = 1 - q this is the root of h(y) = (1-p) ln y + p ln(1-y) - level below y = 1 - p. There
    h rises and is concave, so Newton's method rises to the root from any point left of it: from the
    closest of four bounds. The number of steps is fixed, so that an arm's score does not depend on
    the arms beside it.

    >>> upper_bound(np.array([0.5, 0.0]), np.array([0.0204, 0.6931])).round(3)
    array([0.6, 0.5])
    """
    p = np.clip(mean, _LEAST_MEAN, 1.0 - _LEAST_MEAN)
    rest = 1.0 - p
    level = p * np.log(p) + rest * np.log(rest) - divergence
    twice = 2.0 * divergence
    # kl(p, q) >= (q - p)^2 / 2v if v is at least the variance x(1-x) of every x from p to q: here
    # v is 1/4 (Pinsker), q and 1 - p. The last bound leaves out p ln(1-y), which is negative.
    step = np.minimum(np.sqrt(twice / 4.0), np.sqrt(twice * rest))
    step = np.minimum(step, divergence + np.sqrt(divergence * divergence + twice * p))
    y = np.maximum(np.maximum(rest - step, np.exp(level / rest)), _LEAST_GAP)
    for _ in range(_STEPS):
        height = rest * np.log(y) + p * np.log1p(-y) - level
        slope = rest / y - p / (1.0 - y)
        y = np.clip(y - height / np.maximum(slope, _LEAST_GAP), _LEAST_GAP, rest)
    return 1.0 - y

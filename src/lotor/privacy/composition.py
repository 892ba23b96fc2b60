"""What many arms tell together.

Every later arm depends on all contexts before it, so one replaced context can change the greedy
arm of every step from its own on. Whatever came before, each arm is again a randomised response,
so that figures of one step add up as in adaptive composition. They never use that only one
context was replaced, and hold for any number of them.
"""

from math import inf, log, sqrt

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.privacy.mechanism import EXCESS


def basic(largest: float, steps: int) -> float:
    """The largest losses add up: T log(p/q), with delta 0 (Dwork and Roth, 2014, Theorem 3.16)."""
    return steps * largest if steps else 0.0


def advanced(largest: float, mean: float, steps: int, delta: float) -> float:
    """T mean + largest sqrt(2 T log(1/delta)), or `basic` if that is less.

    The loss of each step lies within ±largest and has at most this mean, given all steps before;
    by the inequality of Azuma and Hoeffding the sum exceeds this with probability delta at most.
    It is the third form of Theorem 3.4 of Kairouz, Oh and Viswanath (2015), which sharpens Dwork,
    Rothblum and Vadhan (2010), with the mean of randomised response over A arms in place of the
    worst mean, largest tanh(largest/2), that equals it for A = 2 and is above it otherwise.
    """
    plain = basic(largest, steps)
    if delta == 0.0 or plain in (0.0, inf):
        return plain
    return min(plain, steps * mean + largest * sqrt(2.0 * steps * -log(delta)))


def renyi(divergences: Floats, steps: int, delta: float) -> float:
    """The least of what the divergences at all orders give; they add up over the steps.

    The conversion is Proposition 12 of Canonne, Kamath and Steinke (2020), for order a:
    T divergence + log(1 - 1/a) - log(delta a)/(a - 1). For delta above sqrt(1 - exp(-divergence)),
    which no total variation distance exceeds (Bretagnolle and Huber, 1979), it is 0.
    """
    if delta == 0.0:
        return inf
    total = steps * divergences
    if delta * delta > -np.expm1(-total[0]):
        return 0.0
    price = -np.log1p(1.0 / EXCESS) - (log(delta) + np.log1p(EXCESS)) / EXCESS
    return max(0.0, float(np.min(total + price)))

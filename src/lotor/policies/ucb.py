"""UCB."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from lotor.core.draws import Draws
from lotor.core.fixed_point import Floats
from lotor.policies.base import ArmStates, Policy


@dataclass(frozen=True, slots=True)
class UCB(Policy):
    """Upper confidence bound (Auer, Cesa-Bianchi and Fischer, 2002): mean + sqrt(2 ln t / n).

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.run(lotor.UCB(), arms, budget=100, seed=1).arms.count(0) > 60
    True
    """

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        if arms.n.size == 1:  # the same number, without what numpy costs for a vector of one
            return np.array([arms.mean.item(0) + sqrt(2.0 * log(t) / arms.n.item(0))])
        return arms.mean + np.sqrt(2.0 * log(t) / arms.n)

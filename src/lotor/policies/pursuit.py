"""Pursuit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float
from lotor.policies.base import ArmStates, Bits, Policy
from lotor.policies.matching import ABOVE_LOWEST_GUMBEL

# Some arm has p >= 1/K and so scores at least -ln K - 3.61; an arm with ln p < -64 scores at most
# -27.2. Raising p to e^-64 thus never changes the selected arm while K < e^23.
_LOWEST_LOG_P = -64.0
_LOWEST_P = np.exp(_LOWEST_LOG_P)


@dataclass(frozen=True, slots=True)
class Pursuit(Policy):
    """Move the pull probabilities towards the arm with the best mean (Thathachar and Sastry, 1985).

    The first iteration finds the arm with the best mean, the second pulls an arm with
    probability p_i. With beta = 0 all p_i stay 1/K. `grid` is what appendix C of SAMBA tries.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.run(lotor.Pursuit(beta=0.1), arms, budget=100, seed=1).arms.count(0) > 60
    True
    """

    grid: ClassVar[Mapping[str, Sequence[float]]] = {"beta": tuple(i / 10 for i in range(11))}

    beta: float = 0.1
    iterations: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", to_float("beta", self.beta))
        if not 0.0 <= self.beta <= 1.0:
            raise InputError(f"beta is a learning rate: give a number in [0, 1], not {self.beta}")

    def start(self, arms: ArmStates) -> None:
        arms.own["p"] = np.full(len(arms), 1.0 / arms.k)

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        if l == 1:
            return arms.mean
        log_p = np.log(np.maximum(arms.own["p"], _LOWEST_P))
        return log_p - _LOWEST_LOG_P + draw.gumbel() + ABOVE_LOWEST_GUMBEL

    def observe(self, arms: ArmStates, t: int, l: int, bits: Bits) -> None:
        if l == 1:
            p = arms.own["p"]
            p += self.beta * (bits - p)

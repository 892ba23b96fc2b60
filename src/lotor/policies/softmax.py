"""Softmax, also called Boltzmann exploration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import SCORE_LIMIT, Floats, to_float
from lotor.policies.base import ArmStates, Policy
from lotor.policies.matching import ABOVE_LOWEST_GUMBEL


@dataclass(frozen=True, slots=True)
class Softmax(Policy):
    """Pull arm i with probability proportional to exp(mean_i / tau) (Sutton and Barto, 1998).

    With tau = 0, the limit, it pulls an arm of the best mean, each of several with the same
    probability. `grid` is what appendix C of SAMBA tries.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.run(lotor.Softmax(tau=0.1), arms, budget=100, seed=1).arms.count(0) > 80
    True
    """

    grid: ClassVar[Mapping[str, Sequence[float]]] = {"tau": tuple(i / 100 for i in range(11))}

    tau: float = 0.06

    def __post_init__(self) -> None:
        tau = to_float("tau", self.tau)
        object.__setattr__(self, "tau", tau)
        # mean/tau plus a Gumbel draw must stay below the largest score.
        if tau != 0.0 and not 2.0 / SCORE_LIMIT <= tau < float("inf"):
            raise InputError(
                f"tau is a temperature: give 0, or a finite number of at least "
                f"{2.0 / SCORE_LIMIT:.1e}, not {self.tau}"
            )

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        if self.tau == 0.0:
            return arms.mean
        return arms.mean / self.tau + draw.gumbel() + ABOVE_LOWEST_GUMBEL

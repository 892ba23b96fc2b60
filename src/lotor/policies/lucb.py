"""LUCB, which looks for the best arm."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float
from lotor.policies.base import ArmStates, Policy

# The sum of t^-3 over all t is below this, as the union over all rounds needs.
_SERIES = 1.25


@dataclass(frozen=True, slots=True)
class LUCB(Policy):
    """Finds the best arm and stops (Kalyanakrishnan, Tewari, Auer and Stone, 2012).

    After t pulls, n of them of an arm, its mean is known up to sqrt(ln(1.25 K t^4/delta) / 2n). The
    leader has the largest mean, the challenger the largest upper bound among the others, and the
    one of them that was pulled less is pulled next. The run ends when the leader's lower bound is
    above the challenger's upper bound less epsilon: with probability 1 - delta, no arm is better
    than the leader by more than `epsilon`. This holds for any rewards in a known range, and
    whichever arms are pulled, because the bounds hold in all rounds at once. The paper pulls both
    arms in each of its rounds.

    `epsilon` is a share of the reward range. With 0, arms that are equally good are never told
    apart: the run then ends with its budget, and says how sure it is.

    >>> import lotor
    >>> arms = lotor.BernoulliArms({"drug A": 0.2, "drug B": 0.8, "drug C": 0.3})
    >>> result = lotor.run(lotor.LUCB(delta=0.05), arms, budget=5_000, seed=1)
    >>> result.best.arm, result.best.sure, result.ended, result.rounds < 1_000
    (1, True, 'sure', True)
    """

    delta: float = 0.05
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", to_float("delta", self.delta))
        object.__setattr__(self, "epsilon", to_float("epsilon", self.epsilon))
        if not 0.0 < self.delta < 1.0:
            raise InputError(
                f"delta is {self.delta}, the probability that a wrong arm is named: give a number "
                "between 0 and 1, such as 0.05"
            )
        if not (isfinite(self.epsilon) and 0.0 <= self.epsilon < 1.0):
            raise InputError(
                f"epsilon is {self.epsilon}, the share of the reward range by which an arm may "
                "miss the best one: give a number from 0 to below 1"
            )

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        scores = np.zeros(len(arms))
        leader, rivals = int(arms.mean.argmax()), self._upper(arms)
        rivals[leader] = -np.inf
        challenger = int(rivals.argmax())
        # Equally many pulls are a tie, which a draw decides.
        least = min(arms.n[leader], arms.n[challenger])
        for one in (leader, challenger):
            scores[one] = 1.0 if arms.n[one] == least else 0.5
        return scores

    def found(self, arms: ArmStates) -> BestArm | None:
        """The leader. Its chance of being wrong is the least delta with which it would stop now."""
        leader = int(arms.mean.argmax())
        if np.any(arms.n == 0):
            return BestArm(leader, 0.0, sure=False)
        roots = 1.0 / np.sqrt(arms.n)
        gaps = arms.mean[leader] - arms.mean + self.epsilon
        # Two intervals of widths w/sqrt(n) part where w is the gap over the sum of 1/sqrt(n).
        widths = np.delete(gaps / (roots[leader] + roots), leader)
        width = float(widths.min()) if len(widths) else np.inf
        log_wrong = self._log_rounds(arms) - 2.0 * width * width
        wrong = float(np.exp(min(log_wrong, 0.0)))
        return BestArm(leader, 1.0 - wrong, sure=wrong < self.delta)

    def _upper(self, arms: ArmStates) -> Floats:
        level = self._log_rounds(arms) - np.log(self.delta)
        bounds: Floats = arms.mean + np.sqrt(level / (2.0 * arms.n))
        return bounds

    @staticmethod
    def _log_rounds(arms: ArmStates) -> float:
        """The logarithm of 1.25 K t^4, t being the number of pulls."""
        return float(np.log(_SERIES * arms.k) + 4.0 * np.log(arms.n.sum()))

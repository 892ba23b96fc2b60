"""Thompson sampling."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from lotor.core.draws import Draws
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.policies.base import ArmStates, Policy

_SAMPLE, _TOSS = 0, 1


@cache
def _beta_quantile() -> Callable[[Floats, Floats, Floats], Floats]:
    """Import scipy on first use: it takes longer to import than everything else."""
    from scipy.special import betaincinv  # noqa: PLC0415

    return betaincinv  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ThompsonSampling(Policy):
    """Sample each arm's mean from its Beta posterior and take the largest (Thompson, 1933).

    The sample is the Beta quantile of a uniform draw. A reward that is not 0 or 1 first becomes
    the outcome of a coin with that bias (Agrawal and Goyal, 2012).

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.run(lotor.ThompsonSampling(), arms, budget=100, seed=1).arms.count(0) > 80
    True
    """

    def start(self, arms: ArmStates) -> None:
        arms.own["successes"] = arms.mean * 0.0

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        successes = arms.own["successes"]
        failures = arms.n - successes
        return _beta_quantile()(successes + 1.0, failures + 1.0, draw.uniform(_SAMPLE))

    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward)
        if 0 < reward < REWARD_ONE:
            reward = REWARD_ONE if draw.uniform(_TOSS)[i] < reward / REWARD_ONE else 0
        arms.own["successes"][i] += reward // REWARD_ONE

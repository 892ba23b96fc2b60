"""A second world: the same arms with other means, for attacks that tell two worlds apart."""

from collections.abc import Awaitable
from dataclasses import dataclass

from lotor.core.effects import Decision
from lotor.environments.base import Environment, PullFunction
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.linear import LinearArms

_LEAST_DIFFERENCE = 0.1


@dataclass(frozen=True, slots=True)
class MirroredArms:
    """Arms that pay well where others pay badly: r becomes lowest + highest - r."""

    environment: Environment

    @property
    def k(self) -> int:
        return self.environment.k

    @property
    def reward_range(self) -> tuple[float, float]:
        return self.environment.reward_range

    def start(self, seed: int) -> PullFunction:
        low, high = self.reward_range
        pull = self.environment.start(seed)

        def mirrored(decision: Decision) -> float | Awaitable[float]:
            reward = pull(decision)
            if isinstance(reward, Awaitable):
                return _awaited(reward, low + high)
            return low + high - reward

        return mirrored


async def _awaited(reward: Awaitable[float], ends: float) -> float:
    return ends - await reward


def second_world(environment: Environment) -> Environment | None:
    """An environment of the same kind with other means; None if none can be derived.

    >>> second_world(BernoulliArms([0.9, 0.5])).means
    (0.09999999999999998, 0.0)
    """
    if isinstance(environment, BernoulliArms):
        return BernoulliArms([_other(mean) for mean in environment.means])
    if type(environment) is LinearArms and environment.noise is None:
        return LinearArms(environment.vectors, -environment.theta, noise_sd=environment.noise_sd)
    if hasattr(environment, "contexts") or hasattr(environment, "vectors"):
        return None  # a protocol looks into it
    return MirroredArms(environment)


def _other(mean: float) -> float:
    """1 - mean, or the end of the range that is further away if that is too near."""
    if abs(1 - 2 * mean) > _LEAST_DIFFERENCE:
        return 1 - mean
    return 0.0 if mean >= 0.5 else 1.0

"""A second world: the same arms with other means, for attacks that tell two worlds apart."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

import numpy as np

from lotor.core.effects import Decision
from lotor.environments.base import Environment, PullFunction
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.contextual import ContextualArms
from lotor.environments.linear import LinearArms
from lotor.environments.linear_contexts import LinearContexts


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

    >>> second_world(BernoulliArms([0.8, 0.4, 0.2]))
    BernoulliArms(means=(0.8, 0.85, 0.95), names=None)
    """
    if isinstance(environment, BernoulliArms):
        return BernoulliArms(_other_means(environment.means))
    if type(environment) is LinearArms and environment.noise is None:
        return LinearArms(environment.vectors, -environment.theta, noise_sd=environment.noise_sd)
    if isinstance(environment, LinearContexts):
        return LinearContexts(
            environment.contexts, -environment.theta, noise_sd=environment.noise_sd
        )
    if isinstance(environment, ContextualArms):
        low, high = environment.reward_range
        kind = ContextualArms.bernoulli if environment.drawn else ContextualArms
        return kind(environment.contexts, low + high - environment.rewards)
    if isinstance(environment, LinearArms):
        return None  # a graph, whose protocol looks into it
    return MirroredArms(environment)


def _other_means(means: Sequence[float]) -> list[float]:
    """Means that differ even as a list without names, with the best arm now the worst.

    All good, or from good to bad: whichever is further away.
    """
    good = np.sort(1 - (1 - np.array(means)) / 4)
    mixed = np.linspace(0.05, 0.7, len(means))
    chosen = max(good, mixed, key=lambda one: float(np.abs(one - np.sort(means)).sum()))
    ranks = np.argsort(np.argsort(-np.array(means), kind="stable"))
    others: list[float] = chosen[ranks].round(6).tolist()
    return others

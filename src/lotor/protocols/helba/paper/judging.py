"""Compares decisions under encryption with those of exact arithmetic, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from lotor.core.effects import Decision
from lotor.environments import LinearContexts
from lotor.policies.optimistic import Batch
from lotor.protocols.helba.guarantees import near_best
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.setting import HelbaSetting


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision: the arm that exact arithmetic takes after the same rounds, and by how much.

    `gap` is between the two largest indices; one above `resolution` must be decided right. Once
    condition (8) was too close to C to be decided right, the resolution is infinite: the batches
    may be others from there on. `shortfall` is how far below the largest index the taken one is,
    and `near` how far Corollary 5 lets it be.
    """

    t: int
    arm: int
    exact: int
    gap: float
    resolution: float
    shortfall: float = 0.0
    near: float = inf

    @property
    def same(self) -> bool:
        return self.arm == self.exact

    @property
    def clear(self) -> bool:
        """Whether it must be decided right, whatever rounding and noise are."""
        return self.gap > self.resolution

    @property
    def wrong(self) -> bool:
        """Whether rounding and noise cannot explain the decision."""
        return self.clear and not self.same

    @property
    def beyond_near(self) -> bool:
        """Whether the arm is none of those that Corollary 5 allows."""
        return self.shortfall > self.near


def judged(
    setting: HelbaSetting, contexts: LinearContexts, seed: int, arms: Sequence[int]
) -> list[Judged]:
    """Judge the decisions of a simulated run, each after the arms and rewards of that run."""
    terms, forecast, pull = setting.terms, HelbaForecast(setting), contexts.start(seed)
    policy, scale = terms.learner, terms.scale
    model, sure = policy.start(terms.d), True
    found = []
    for t, arm in enumerate(arms, 1):
        x, batch = contexts.contexts_at(t), model.batch
        indices = model.indices(x)
        second, first = np.sort(indices)[-2:]
        log_determinant = batch.log_growth + terms.d * log(policy.ridge)
        value = forecast.value_resolution(t, batch.start)
        resolution = setting.circuit.gap(value, t, batch.start, log_determinant) if sure else inf
        best, gap, shortfall = int(indices.argmax()), float(first - second), first - indices[arm]
        near = near_best(policy, t, policy.beta(t, batch))
        found.append(Judged(t, arm, best, gap, resolution, float(shortfall), near))
        reward = scale.to_fixed(pull(Decision.of_step(terms.run, t, arm)))
        model.update(x[arm], scale.total(reward, 1))
        sure = sure and (policy.due(t + 1, batch.start) or not _is_close(batch, forecast))
    return found


def _is_close(batch: Batch, forecast: HelbaForecast) -> bool:
    """Whether rounding and noise may decide condition (8) the other way."""
    limit, resolution = forecast.setting.terms.learner.C, forecast.switch_resolution()
    if limit is None or resolution is None:
        return False
    return abs(batch.trace - limit) < resolution

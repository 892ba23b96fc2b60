"""Holds what was decided under encryption against exact arithmetic, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lotor.core.effects import Decision
from lotor.environments import LinearContexts
from lotor.protocols.helba.planner import Plan
from lotor.protocols.helba.setting import Setting


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision: the arm that exact arithmetic takes after the same rounds, and by how much.

    `gap` is between the two largest indices; one above `resolution` must be decided right.
    """

    t: int
    arm: int
    exact: int
    gap: float
    resolution: float

    @property
    def same(self) -> bool:
        return self.arm == self.exact

    @property
    def wrong(self) -> bool:
        """Whether a difference is more than what rounding and noise explain."""
        return not self.same and self.gap > self.resolution


def judged(
    setting: Setting, contexts: LinearContexts, seed: int, arms: Sequence[int]
) -> list[Judged]:
    """The decisions of a simulated run, each after the arms and rewards that it had itself."""
    terms, plan, pull = setting.terms, Plan(setting), contexts.start(seed)
    policy, scale = terms.learner, terms.scale
    model = policy.start(terms.d)
    found = []
    for t, arm in enumerate(arms, 1):
        x, batch = contexts.contexts_at(t), model.batch
        indices = model.indices(x)
        second, first = np.sort(indices)[-2:]
        log_determinant = batch.log_growth + terms.d * float(np.log(policy.ridge))
        value = plan.value_resolution(t, batch.start)
        resolution = setting.form.gap(value, t, batch.start, log_determinant)
        found.append(Judged(t, arm, int(indices.argmax()), float(first - second), resolution))
        reward = scale.to_fixed(pull(Decision.of_step(terms.run, t, arm)))
        model.update(x[arm], scale.total(reward, 1))
    return found

"""An optimistic policy with no cryptography: Algorithm 4 of HELBA by one agent that sees all."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.wording import counted
from lotor.crypto.prf import Prf
from lotor.environments import LinearContexts
from lotor.environments.sources import ArmContextSource
from lotor.policies.optimistic import OptimisticPolicy
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import Agent

TIES = "contexts ties"
"""The purpose of the key that decides between arms of equal index."""

_LABEL = 0


def linear_contexts(run: Run, policy: OptimisticPolicy) -> LinearContexts:
    """The environment of a run, refused if it does not fit or breaks a bound of the policy."""
    arms = run.environment
    if not isinstance(arms, LinearContexts):
        raise InputError(
            "an optimistic policy needs arms with contexts of their own in each round, not "
            f"{type(arms).__name__}: give LinearContexts"
        )
    if arms.rounds < run.budget:
        raise InputError(
            f"there are contexts for {counted(arms.rounds, 'round')}, fewer than the budget of "
            f"{run.budget}: "
            "give more contexts or a smaller budget"
        )
    policy.check_contexts(arms.contexts[: run.budget])
    policy.check_theta(arms.theta)
    return arms


class OptimisticAgent(Agent[OptimisticPolicy]):
    """Users and server of Algorithm 4 in one, without encryption."""

    family: ClassVar[type] = OptimisticPolicy
    arms: ClassVar[type] = ArmContextSource
    least_budget: ClassVar[int | None] = 1

    def __init__(self, policy: OptimisticPolicy, run: Run, settings: Mapping[str, object]) -> None:
        del settings  # this family has none
        self._environment = linear_contexts(run, policy)
        self._run = run
        self._model = policy.start(self._environment.d)
        self._ties = Prf(run.draw_key(TIES), range(run.k))

    def operations(self) -> Mapping[str, int]:
        """How often the estimate was renewed."""
        return {"updates": self._model.updates}

    def steps(self) -> Steps[float]:
        run, model, scale = self._run, self._model, self._run.scale
        total = 0
        for t in range(1, run.budget + 1):
            x = self._environment.contexts_at(t)
            arm = self._choose(t, model.indices(x))
            reward = scale.to_fixed((yield Pull(Decision.of_step(run.id, t, arm))))
            total += reward
            # In the user's unit: a shifted reward would not be linear in the context.
            model.update(x[arm], scale.total(reward, 1))
        return scale.total(total, run.budget)

    def _choose(self, t: int, indices: Floats) -> int:
        """The arm of the largest index; of equal ones that of the larger draw."""
        tied = np.flatnonzero(indices == indices.max())
        if len(tied) == 1:
            return tied.item()
        return tied.item(self._ties.words(_LABEL, t, 0)[tied].argmax())

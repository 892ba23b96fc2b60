"""An optimistic policy with no cryptography: Algorithm 4 of HELBA by one agent that sees all."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.wording import counted
from lotor.crypto.prf import Prf
from lotor.environments import LinearContexts
from lotor.environments.base import Environment
from lotor.environments.sources import ArmContextSource
from lotor.policies.noise import check_noise, suited_to_noise
from lotor.policies.optimistic import (
    BatchedOFUL,
    Grid,
    OptimisticModel,
    OptimisticPolicy,
    WholeModel,
)
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import Agent
from lotor.protocols.plain.learner import Learner

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
    check_noise(policy, arms.noise_sd)
    return arms


class OptimisticLearner(Learner):
    """What users and server do in a round; the contexts are a row for each arm."""

    def __init__(self, model: OptimisticModel | WholeModel, run: Run) -> None:
        self._scale = run.scale
        self._ties = TieDraws(run.draw_key(TIES), run.k)
        self.model = model

    def choose(self, t: int, x: Floats) -> int:
        return self._ties.best(t, list(self.model.indices(x)))

    def learn(self, t: int, arm: int, reward: int, x: Floats) -> None:
        del t
        # In the user's unit: a shifted reward would not be linear in the context.
        self.model.update(x[arm], self._scale.total(reward, 1))


class OptimisticAgent(Agent[OptimisticPolicy]):
    """Users and server of Algorithm 4 in one, without encryption; on a `grid`, in whole numbers."""

    family: ClassVar[type] = OptimisticPolicy
    arms: ClassVar[type] = ArmContextSource
    sees: ClassVar[str] = "a context of each arm in each round"
    settings: ClassVar[Mapping[str, object]] = {"grid": None}
    least_budget: ClassVar[int | None] = 1
    context_axes: ClassVar[int] = 2

    def __init__(self, policy: OptimisticPolicy, run: Run, settings: Mapping[str, object]) -> None:
        self._environment = linear_contexts(run, policy)
        self._run = run
        model = _model(policy, settings["grid"], self._environment.d)
        self._learner = OptimisticLearner(model, run)

    @classmethod
    def learner(cls, policy: OptimisticPolicy, run: Run, d: int) -> Learner:
        return OptimisticLearner(_model(policy, None, d), run)

    @classmethod
    def suited(
        cls, policy: OptimisticPolicy, environment: Environment, keep: Collection[str]
    ) -> OptimisticPolicy:
        if not isinstance(environment, LinearContexts):
            return policy
        return suited_to_noise(policy, environment.noise_sd, keep)

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        grid = settings["grid"]
        if not isinstance(grid, Grid):
            return {}
        return {"context_bits": grid.context_bits, "reward_bits": grid.reward_bits}

    def operations(self) -> Mapping[str, int]:
        """How often the estimate was renewed."""
        return {"updates": self._learner.model.updates}

    def steps(self) -> Steps[float]:
        run, learner, scale = self._run, self._learner, self._run.scale
        total = 0
        for t in range(1, run.budget + 1):
            x = self._environment.contexts_at(t)
            arm = learner.choose(t, x)
            reward = scale.to_fixed((yield Pull(Decision.of_step(run.id, t, arm))))
            total += reward
            learner.learn(t, arm, reward, x)
        return scale.total(total, run.budget)


class TieDraws:
    """Decides between arms of equal index: the larger draw wins, and of equal draws the first."""

    def __init__(self, key: bytes, k: int) -> None:
        self._draws = Prf(key, range(k))

    def __repr__(self) -> str:
        return "<TieDraws>"

    def best(self, t: int, indices: Sequence[float]) -> int:
        """The arm of the largest index in round t."""
        highest = max(indices)
        tied = [arm for arm, index in enumerate(indices) if index == highest]
        if len(tied) == 1:
            return tied[0]
        words = self._draws.integers(_LABEL, t, 0)
        return max(tied, key=words.__getitem__)

    def order(self, t: int) -> list[int]:
        """All arms, such that of equal indices the first wins."""
        words = self._draws.integers(_LABEL, t, 0)
        return sorted(range(len(words)), key=lambda arm: (-words[arm], arm))


def _model(policy: OptimisticPolicy, grid: object, d: int) -> OptimisticModel | WholeModel:
    if grid is None:
        return policy.start(d)
    if not isinstance(grid, Grid) or not isinstance(policy, BatchedOFUL):
        raise InputError(f"{policy!r} does not compute on a grid: take BatchedOFUL() and a Grid")
    return WholeModel(policy, grid, d)

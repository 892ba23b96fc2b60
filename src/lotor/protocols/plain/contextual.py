"""A contextual policy with no cryptography: Algorithm 1 of PPCB, one agent that sees everything."""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar, cast

import numpy as np

from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.core.wording import counted
from lotor.environments import ContextualArms
from lotor.environments.sources import ContextSource
from lotor.policies.contextual import ContextualPolicy
from lotor.privacy import Accountant
from lotor.protocols.contextual_draws import ContextualDraws
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import Agent
from lotor.protocols.plain.learner import Learner


def contextual_arms(run: Run) -> ContextualArms:
    """The environment of a contextual run, refused if it does not fit."""
    arms = run.environment
    if not isinstance(arms, ContextualArms):
        raise InputError(
            f"a contextual policy needs arms with contexts, not {type(arms).__name__}: give "
            "ContextualArms"
        )
    if arms.rounds < run.budget:
        raise InputError(
            f"there are contexts for {counted(arms.rounds, 'round')}, fewer than the budget of "
            f"{run.budget}: "
            "give more contexts or a smaller budget"
        )
    return arms


class ContextualLearner(Learner):
    """What Algorithm 1 does in a round."""

    def __init__(self, policy: ContextualPolicy, run: Run, d: int) -> None:
        self.model = policy.start(run.k, d)
        self._draws = ContextualDraws.simulated(run, policy.epsilon)

    def choose(self, t: int, x: Floats) -> int:
        """A uniform arm if round t explores, else the one of the largest score."""
        if self._draws.explores(t):
            return self._draws.arm(t)
        scores = self.model.scores(x)
        winner = int(scores.argmax())
        best = scores.item(winner)
        later = scores[winner + 1 :]  # argmax is the first of equals: look for others behind it
        if len(later) and later.item(later.argmax()) == best:
            tied = np.flatnonzero(scores == best)
            winner = tied.item(self._draws.ranks(t)[tied].argmax())
        return winner

    def learn(self, t: int, arm: int, reward: int, x: Floats) -> None:
        del t
        self.model.update(arm, x, reward / REWARD_ONE)


class ContextualAgent(Agent[ContextualPolicy]):
    """The learner of Algorithm 1, without its secret sharing.

    With a `delay` the reward of round t is learned from only after the arm of round t + delay has
    been chosen. With a `privacy_budget` the run ends as the secure one does.
    """

    family: ClassVar[type] = ContextualPolicy
    arms: ClassVar[type] = ContextSource
    sees: ClassVar[str] = "one context in each round"
    settings: ClassVar[Mapping[str, object]] = {"delay": 0, "privacy_budget": None, "delta": 1e-6}
    least_budget: ClassVar[int | None] = 1
    context_axes: ClassVar[int] = 1

    def __init__(self, policy: ContextualPolicy, run: Run, settings: Mapping[str, object]) -> None:
        self._environment = contextual_arms(run)
        self._run = run
        self._delay = cast("int", settings["delay"])
        accountant = Accountant(run.k, policy.epsilon, cast("float", settings["delta"]))
        limit = cast("float | None", settings["privacy_budget"])
        self._steps = accountant.allowed(run.budget, limit)
        self._learner = ContextualLearner(policy, run, self._environment.d)

    @classmethod
    def learner(cls, policy: ContextualPolicy, run: Run, d: int) -> Learner:
        return ContextualLearner(policy, run, d)

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        delay = settings["delay"]
        if not isinstance(delay, int) or isinstance(delay, bool) or delay < 0:
            raise InputError(f"delay is {delay!r}: give a whole number of rounds from 0 up")

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        limited = settings["privacy_budget"] is not None
        names = ("delay", "privacy_budget", "delta") if limited else ("delay",)
        values = ((name, settings[name]) for name in names)
        return {name: one if isinstance(one, int) else str(one) for name, one in values}

    def steps(self) -> Steps[float]:
        run, learner, context = self._run, self._learner, self._environment.context
        to_fixed = run.scale.to_fixed
        waiting: deque[tuple[int, int, int, Floats]] = deque()
        total = 0
        for t in range(1, self._steps + 1):
            x = context(t)
            arm = learner.choose(t, x)
            reward = to_fixed((yield Pull(Decision.of_step(run.id, t, arm))))
            total += reward
            waiting.append((t, arm, reward, x))
            if len(waiting) > self._delay:
                learner.learn(*waiting.popleft())
        return run.scale.total(total, self._steps)

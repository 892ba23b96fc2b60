"""A contextual policy with no cryptography: Algorithm 1 of PPCB, one agent that sees everything."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.environments import ContextualArms
from lotor.policies.contextual import ContextualPolicy, contextual_to_text
from lotor.privacy import Accountant
from lotor.protocols.contextual_draws import ContextualDraws
from lotor.protocols.party import Party, Run


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
            f"there are contexts for {arms.rounds} rounds, fewer than the budget of {run.budget}: "
            "give more contexts or a smaller budget"
        )
    return arms


class ContextualAgent:
    """The learner of Algorithm 1, without its secret sharing."""

    def __init__(self, policy: ContextualPolicy, delay: int, steps: int, run: Run) -> None:
        self._environment = contextual_arms(run)
        self._run = run
        self._delay = delay
        self._steps = steps
        self._model = policy.start(run.k, self._environment.d)
        self._draws = ContextualDraws.simulated(run, policy.epsilon)

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[float]:
        run, model, context = self._run, self._model, self._environment.context
        to_fixed = run.scale.to_fixed
        waiting: deque[tuple[int, Floats, float]] = deque()
        total = 0
        for t in range(1, self._steps + 1):
            x = context(t)
            arm = self._choose(t, x)
            reward = to_fixed((yield Pull(Decision.of_step(run.id, t, arm))))
            total += reward
            waiting.append((arm, x, reward / REWARD_ONE))
            if len(waiting) > self._delay:
                model.update(*waiting.popleft())
        return run.scale.total(total, self._steps)

    def _choose(self, t: int, x: Floats) -> int:
        """A uniform arm if round t explores, else the one of the largest score."""
        if self._draws.explores(t):
            return self._draws.arm(t)
        scores = self._model.scores(x)
        winner = int(scores.argmax())
        best = scores.item(winner)
        later = scores[winner + 1 :]  # argmax is the first of equals: look for others behind it
        if len(later) and later.item(later.argmax()) == best:
            tied = np.flatnonzero(scores == best)
            winner = tied.item(self._draws.ranks(t)[tied].argmax())
        return winner


@dataclass(frozen=True, slots=True)
class PlainContextual:
    """Run a contextual policy in the clear, by one agent.

    With a `delay` the reward of round t is learned from only after the arm of round t + delay has
    been chosen. With a `privacy_budget` the run ends as the secure one does.
    """

    policy: ContextualPolicy
    delay: int = 0
    privacy_budget: float | None = None
    delta: float = 1e-6

    least_budget: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.delay, int) or isinstance(self.delay, bool) or self.delay < 0:
            raise InputError(f"delay is {self.delay!r}: give a whole number of rounds from 0 up")

    @property
    def name(self) -> str:
        return "plain"

    @property
    def learner(self) -> str:
        return "agent"

    def options(self) -> Mapping[str, str | int]:
        options: dict[str, str | int] = {
            "policy": contextual_to_text(self.policy),
            "delay": self.delay,
        }
        if self.privacy_budget is not None:
            options |= {"privacy_budget": str(self.privacy_budget), "delta": str(self.delta)}
        return options

    def parties(self, run: Run) -> Mapping[str, Party]:
        accountant = Accountant(run.k, self.policy.epsilon, self.delta)
        steps = accountant.allowed(run.budget, self.privacy_budget)
        return {"agent": ContextualAgent(self.policy, self.delay, steps, run)}

"""A policy with no cryptography: SAMBA's Figure 3, one agent that holds all arms."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.draws import Draws
from lotor.core.effects import Decision, Pull, Steps
from lotor.core.fixed_point import Floats, Scores, to_scores
from lotor.crypto.prf import Prf
from lotor.environments.sources import BanditSource
from lotor.policies import ArmStates, Policy, check_iterations
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import Agent
from lotor.protocols.plain.learner import NO_CONTEXT, Learner


class BanditLearner(Learner):
    """SelectArm and the updates of Figure 3."""

    def __init__(self, policy: Policy, run: Run) -> None:
        check_iterations(policy)
        self._policy = policy
        self._draws = Draws(
            Prf(run.draw_key("owner"), range(run.k)), Prf(run.draw_key("coin"), [0])
        )
        self.states = ArmStates(run.k, run.k)
        self._unpulled = list(range(run.k))
        self._maximum = policy.selects_maximum
        self._observes = policy.observes
        self._looks = policy.looks_for_best
        policy.start(self.states)

    def choose(self, t: int, x: Floats = NO_CONTEXT) -> int:
        del x
        if self._unpulled:
            return self._unpulled[0]
        policy, arms, draws = self._policy, self.states, self._draws
        winner = 0
        for l in range(1, policy.iterations + 1):
            draws.at(t, l)
            winner = self._select(to_scores(policy.score(arms, t, l, draws)), t, l)
            if self._observes:
                policy.observe(arms, t, l, np.arange(len(arms)) == winner)
        return winner

    def learn(self, t: int, arm: int, reward: int, x: Floats = NO_CONTEXT) -> None:
        del x
        if self._unpulled and arm in self._unpulled:
            self._unpulled.remove(arm)
        self._policy.learn(self.states, arm, reward, self._draws.at(t, 0))

    def found(self) -> BestArm | None:
        return self._policy.found(self.states) if self._looks else None

    def _select(self, scores: Scores, t: int, l: int) -> int:
        """SelectArm on scores whose ties are decided by the arms' own tie draws."""
        if not self._maximum:
            pairs = zip(scores.tolist(), self._draws.ties(), strict=True)
            return self._policy.selected([v << 64 | u for v, u in pairs], t, l)
        winner = int(scores.argmax())
        best = scores.item(winner)
        later = scores[winner + 1 :]  # argmax is the first of equals: look for others behind it
        if len(later) and later.item(later.argmax()) == best:
            tied = np.flatnonzero(scores == best).tolist()
            winner = max(tied, key=self._draws.ties().__getitem__)
        return winner


class BanditAgent(Agent[Policy]):
    """The learning agent of Figure 3."""

    family: ClassVar[type] = Policy
    arms: ClassVar[type] = BanditSource
    sees: ClassVar[str] = "what each arm has paid"

    def __init__(self, policy: Policy, run: Run, settings: Mapping[str, object]) -> None:
        del settings  # this family has none
        self._run = run
        self._learner = BanditLearner(policy, run)

    def steps(self) -> Steps[float]:
        run, learner = self._run, self._learner
        to_fixed = run.scale.to_fixed
        for t in range(1, run.budget + 1):
            arm = learner.choose(t)
            reward = yield Pull(Decision.named(run.id, t, arm))
            learner.learn(t, arm, to_fixed(reward))
            self.best = learner.found()
            if self.best is not None and self.best.sure:
                break
        return run.scale.total(int(learner.states.s.sum()), int(learner.states.n.sum()))

    @classmethod
    def learner(cls, policy: Policy, run: Run, d: int) -> Learner:
        del d
        return BanditLearner(policy, run)

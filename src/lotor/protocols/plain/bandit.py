"""A policy with no cryptography: SAMBA's Figure 3, one agent that holds all arms."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import Decision, Pull, Steps
from lotor.core.fixed_point import Scores, to_scores
from lotor.crypto.prf import Prf
from lotor.environments.sources import BanditSource
from lotor.policies import ArmStates, Policy, check_iterations
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import Agent


class BanditAgent(Agent[Policy]):
    """The learning agent of Figure 3."""

    family: ClassVar[type] = Policy
    arms: ClassVar[type] = BanditSource

    def __init__(self, policy: Policy, run: Run, settings: Mapping[str, object]) -> None:
        del settings  # this family has none
        check_iterations(policy)
        self._policy = policy
        self._run = run
        self._draws = Draws(
            Prf(run.draw_key("owner"), range(run.k)), Prf(run.draw_key("coin"), [0])
        )
        self._states = ArmStates(run.k, run.k)
        self._maximum = policy.selects_maximum
        policy.start(self._states)

    def steps(self) -> Steps[float]:
        policy, run, arms, draws = self._policy, self._run, self._states, self._draws
        to_fixed = run.scale.to_fixed
        observes = policy.observes
        for i in range(run.k):
            reward = yield Pull(Decision.named(run.id, i + 1, i))
            policy.learn(arms, i, to_fixed(reward), draws.at(i + 1, 0))
        for t in range(run.k + 1, run.budget + 1):
            for l in range(1, policy.iterations + 1):
                draws.at(t, l)
                winner = self._select(to_scores(policy.score(arms, t, l, draws)), t, l)
                if observes:
                    policy.observe(arms, t, l, np.arange(run.k) == winner)
            reward = yield Pull(Decision.named(run.id, t, winner))
            policy.learn(arms, winner, to_fixed(reward), draws.at(t, 0))
        return run.scale.total(int(arms.s.sum()), run.budget)

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

"""Rewards of a linear run that the environment is asked for, one by one, in clear."""

from lotor.core.effects import Decision, Pull, Steps
from lotor.environments import LinearArms, VectorArms
from lotor.policies.linear import LinearPolicy, LiveLayout, NormalDraws
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.party import Run


class LiveRewards:
    """Learns from the same integers as LinUCB-DS with live rewards, and continues no run."""

    before = 0

    def __init__(self, policy: LinearPolicy, arms: LinearArms | VectorArms, run: Run) -> None:
        self._run = run
        self.draws = LinearDraws.simulated(run, arms)
        self._model = policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        least = self._model.least_penalty
        self._layout = LiveLayout(arms.vectors, least, run.scale, run.budget)
        self._sums = self._layout.sums()

    def scores(self, t: int, normals: NormalDraws) -> list[int]:
        """Of all arms after t pulls."""
        u, c = self._model.live_coefficients(t, normals)
        layout = self._layout
        return layout.scores(layout.u(u), self._sums.learnt, layout.addends(c))

    def pull(self, t: int, arm: int) -> Steps[None]:
        """The arm of round t; its reward is waited for."""
        reward: float = yield Pull(Decision.named(self._run.id, t, arm))
        self._model.update(arm, self._layout.middle)
        self._sums.add(arm, self._layout.excess(reward))

    def total(self) -> float:
        """In the user's unit."""
        return self._layout.reward(self._sums.total, self._run.budget)

"""A policy: one frozen dataclass."""

from dataclasses import dataclass

from lotor.core.draws import Draws
from lotor.policies import ArmStates, Floats, Policy


@dataclass(frozen=True, slots=True)
class FirstBest(Policy):
    """Take the best mean, and `optimism` more for each arm that was pulled less than `often`."""

    optimism: float = 0.5
    often: float = 5.0

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        scores: Floats = arms.mean + self.optimism * (arms.n < self.often)
        return scores

"""The exact sum of rewards: what is known without theta, kept as integers."""

from collections.abc import Sequence

from lotor.core.fixed_point import Floats
from lotor.policies.linear.layout import Layout


class RewardSum:
    """The sum of the pulled arms and that of their noise.

    The sum of all rewards is <theta, arms> + noise, one product at the end.

    >>> import numpy as np
    >>> vectors = np.array([[1.0, 0.0], [0.0, -1.0]])
    >>> layout = Layout(L=1.0, S=1.0, k=2, d=2)
    >>> rewards = RewardSum(layout, vectors)
    >>> rewards.add(0, noise=0.125)
    >>> rewards.add(1, noise=0.0)
    >>> layout.reward(rewards.total(layout.theta(np.array([0.5, 0.25]))))
    0.375
    """

    __slots__ = ("_fixed", "_layout", "arms", "noise")

    def __init__(self, layout: Layout, vectors: Floats) -> None:
        self._layout = layout
        self._fixed = layout.arms(vectors)
        self.arms: list[int] = [0] * layout.d
        self.noise = 0

    def __repr__(self) -> str:
        return f"<RewardSum in {len(self.arms)} dimensions>"

    def add(self, arm: int, noise: float) -> None:
        """Count one pull."""
        self.noise += self._layout.noise(noise)
        self.arms = [a + b for a, b in zip(self.arms, self._fixed[arm], strict=True)]

    def total(self, theta: Sequence[int]) -> int:
        """The exact sum of all rewards, in units of 2^-reward_fraction."""
        return sum(a * b for a, b in zip(self.arms, theta, strict=True)) + self.noise

"""What the user puts into four blocks of slots in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.protocols.helba.packing import Packing

BLOCKS: Final = 4
"""Of a quarter of the slots each."""


@dataclass(frozen=True)
class PlanePacking(Packing):
    """Slots are pairs of arms, in each block the same ones; `comparing` is that of one block."""

    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """B = [M11, M22, M12, M12] with M = q·(x_k x_k^T - x_o x_o^T), and D = [d1, d2, d1, d2]."""
        quadratic, linear = self.bounds.factors(t, start)
        factor = self.comparing.polynomial.factor
        first, second = x[:, :, 0], x[:, :, 1]
        mixed = self._pairs(first * second * (quadratic * factor))
        squares = [self._pairs(one * one * (quadratic * factor)) for one in (first, second)]
        parts = [self._pairs(one * (linear * factor)) for one in (first, second)]
        return [np.concatenate([*squares, mixed, mixed]), np.concatenate([*parts, *parts])]

    def _pairs(self, values: Floats) -> Floats:
        """One block of differences, of values of shape (repetitions, arms)."""
        return self.comparing.layout.spread(values)

    def update(self, x: Floats, reward: Floats) -> list[Floats]:
        """What a round adds to P and Q."""
        first, second = x.T
        mixed = first * second
        g = x * (reward[:, None] * self.bounds.g_factor)
        v = [one * self.bounds.v_factor for one in (second**2, first**2, -mixed, -mixed)]
        return [self._blocks(v), self._blocks([g[:, 0], g[:, 1], g[:, 1], g[:, 0]])]

    def _blocks(self, numbers: Sequence[Floats]) -> Floats:
        """For each block a number of every repetition."""
        return np.concatenate(
            [np.broadcast_to(self.everywhere(one), self.comparing.slots) for one in numbers]
        )

    def ridge(self) -> list[float | Floats]:
        """P and Q before the first round, public."""
        diagonal = self.bounds.policy.ridge * self.bounds.v_factor
        return [np.repeat([diagonal, diagonal, 0.0, 0.0], self.comparing.slots), 0.0]

"""Where pairs of arms are compared if each arm's own number takes a long computation.

The first half of the slots holds the number of an arm and the second half, in the same order, that
of its opponent: one rotation by half of all slots gives all differences, and in the second half
those of the mirrored pairs.
"""

from dataclasses import dataclass

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import PairLayout


@dataclass(frozen=True, slots=True)
class MirroredPairs:
    """All pairs of `arms` arms in `slots` slots.

    Two arms are one pair, whose mirror is the other arm's comparison. With more, each arm is
    compared with all others in the first half (see `PairLayout`), and what the second half comes to
    is nobody's business: `answers` keeps it from leaving.

    >>> two = MirroredPairs(arms=2, slots=8)
    >>> two.both(np.array([[5.0, 7.0]]))
    array([5., 0., 0., 0., 7., 0., 0., 0.])
    >>> two.differences(np.array([[5.0, 7.0]]))
    array([-2.,  0.,  0.,  0.,  2.,  0.,  0.,  0.])
    """

    arms: int
    slots: int

    @property
    def half(self) -> int:
        return self.slots // 2

    @property
    def layout(self) -> PairLayout:
        """In which the products over each arm's pairs are formed."""
        return PairLayout(self.arms, self.slots if self.arms == 2 else self.half)

    @property
    def levels(self) -> int:
        """How many levels the products take, and keeping to the answers."""
        return 0 if self.arms == 2 else self.layout.levels + 1

    @property
    def rotations(self) -> list[int]:
        return [self.half, *self.layout.rotations]

    @property
    def repetitions(self) -> int:
        """How many independent problems fit."""
        return self.half if self.arms == 2 else self.layout.repetitions

    def both(self, values: Floats) -> Floats:
        """Values of shape (repetitions, arms): each arm's own, and its opponent's."""
        own = np.broadcast_to(values[:, :, None], (*values.shape, self.arms))
        return self._placed(own, own.swapaxes(1, 2))

    def differences(self, values: Floats) -> Floats:
        """Each arm's own less its opponent's, and mirrored."""
        table = values[:, :, None] - values[:, None, :]
        return self._placed(table, -table)

    def everywhere(self, values: Floats) -> Floats:
        """A number for each repetition, in all slots of that."""
        return self.both(np.repeat(values[:, None], self.arms, axis=1))

    def answers(self) -> Floats:
        """1 in the slots that are read."""
        slots = np.zeros(self.slots)
        slots[: self.repetitions * self.arms] = 1.0
        return slots

    def read(self, slots: Floats, repetitions: int) -> Floats:
        """b[r, k], from decrypted slots."""
        if self.arms == 2:
            return np.stack([slots[:repetitions], slots[self.half :][:repetitions]], axis=1)
        return self.layout.read(slots, repetitions)

    def _placed(self, first: Floats, second: Floats) -> Floats:
        """Tables [r, k, other] in both halves."""
        return np.concatenate([self._half(first), self._half(second)])

    def _half(self, table: Floats) -> Floats:
        if self.arms > 2:
            return self.layout.place(table)
        slots = np.zeros(self.half)
        slots[: len(table)] = table[:, 0, 1]
        return slots

"""Which of K encrypted values is the largest: every pair compared at once, in slots.

Arm k wins if it wins against each of the others. Slot (j, r, k) holds the comparison of arm k
with its j-th opponent in repetition r; opponents are the outermost index of a period that fills
the ciphertext, so that rotations go around and every slot ends with a whole product. A slot with a
part of a product would tell more than the winner.
"""

from dataclasses import dataclass

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.ckks.evaluator import halvings
from lotor.crypto.ckks.formulas import Array, Number, require_levels, rotate
from lotor.crypto.ckks.sign import SignPolynomial


@dataclass(frozen=True, slots=True)
class PairLayout:
    """Where comparisons are in `period` slots; the period is repeated over all slots.

    >>> layout = PairLayout(arms=3, period=8)
    >>> layout.repetitions, layout.opponents
    (1, 2)
    >>> layout.spread(np.array([[5.0, 7.0, 6.0]]))
    array([-2.,  2.,  1.,  0., -1.,  1., -1.,  0.])
    """

    arms: int
    period: int

    def __post_init__(self) -> None:
        if self.arms < 2:
            raise InputError(f"arms={self.arms}: a comparison needs at least two")
        if self.period & (self.period - 1) or self.columns < self.arms:
            raise InputError(
                f"period={self.period}: it must be a power of two and hold the "
                f"{self.arms}·{self.opponents} comparisons of {self.arms} arms"
            )

    @staticmethod
    def smallest_period(arms: int) -> int:
        """The smallest period that holds the comparisons of so many arms."""
        return (1 << (arms - 2).bit_length()) * (1 << (arms - 1).bit_length())

    @property
    def opponents(self) -> int:
        """Comparisons per arm, rounded up to a power of two; the added ones are always won."""
        return 1 << (self.arms - 2).bit_length()

    @property
    def columns(self) -> int:
        """Slots per opponent."""
        return self.period // self.opponents

    @property
    def repetitions(self) -> int:
        """How many independent problems fit."""
        return self.columns // self.arms

    @property
    def levels(self) -> int:
        """How many levels the products take, beyond those of the comparison."""
        return self.opponents.bit_length() - 1

    @property
    def rotations(self) -> list[int]:
        """The rotations for which the server needs keys."""
        return halvings(self.opponents, self.columns)

    def pairs(self) -> list[tuple[int, int, int]]:
        """(j, k, other): the j-th opponent of arm k."""
        arms = range(self.arms)
        return [(j, k, other) for k in arms for j, other in enumerate(a for a in arms if a != k)]

    def spread(self, values: Array) -> Array:
        """Differences in their slots, from values of shape (repetitions, arms); one period."""
        return self.place(values[:, :, None] - values[:, None, :])

    def place(self, table: Array) -> Array:
        """table[r, k, other] in the slots of the comparisons; one period."""
        if table.shape[0] > self.repetitions or table.shape[1:] != (self.arms, self.arms):
            raise InputError(
                f"a table of shape {table.shape} for {self.repetitions} repetitions of "
                f"{self.arms} arms: it does not fit this layout"
            )
        slots = np.zeros((self.opponents, self.columns))
        used = slots[:, : self.arms * self.repetitions].reshape(
            self.opponents, self.repetitions, self.arms
        )
        for j, k, other in self.pairs():
            used[j, : table.shape[0], k] = table[:, k, other]
        return slots.ravel()

    def offsets(self) -> Array:
        """What turns half a sign into a won (1) or lost (0) comparison; one period."""
        offsets = np.full((self.opponents, self.columns), 0.5)
        offsets[self.arms - 1 :] = 1.0
        return offsets.ravel()

    def read(self, slots: Array, repetitions: int) -> Array:
        """b[r, k], near 1 for the largest and 0 for others, from decrypted slots."""
        return np.asarray(
            slots[: repetitions * self.arms].reshape(repetitions, self.arms), dtype=np.float64
        )


def levels_of_argmax(layout: PairLayout, comparison: SignPolynomial) -> int:
    """How many levels `winners` takes."""
    return comparison.levels + layout.levels


def winners(
    differences: Number, layout: PairLayout, comparison: SignPolynomial, slots: int
) -> Number:
    """b for each arm in its slot, from differences that were multiplied by `comparison.factor`."""
    if comparison.height != 0.5:
        raise InputError("the comparison must end at ±1/2: take a sign_polynomial of height 0.5")
    if slots % layout.period:
        raise InputError(f"a period of {layout.period} does not fill {slots} slots evenly")
    require_levels(differences, levels_of_argmax(layout, comparison))
    offsets = np.tile(layout.offsets(), slots // layout.period)
    won = comparison.evaluate(differences) + offsets
    for step in layout.rotations:
        won = won * rotate(won, step)
    return won

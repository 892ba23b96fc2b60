"""The index without a root in the plane, d = 2: four numbers side by side in one ciphertext.

The adjugate of V needs no product there, so that with blocks of a quarter of the slots

    P = [V22, V11, -V12, -V12],  Q = [g1, g2, g2, g1],  H = P·Q

make up an estimate. A round's contexts are two ciphertexts, B beside P and D beside H (see
`PlanePacking`), and the four blocks of B·P + D·H add up to what is compared.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Final

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import PairLayout
from lotor.crypto.ckks.evaluator import halvings
from lotor.crypto.ckks.formulas import Number, sum_slots
from lotor.protocols.helba.paper import counts as counting
from lotor.protocols.helba.paper.counts import Counts
from lotor.protocols.helba.paper.index_circuit import MOST_SLOTS, Numbers, PairComparison, Spot
from lotor.protocols.helba.paper.quadratic import (
    QuadraticCircuit,
    QuadraticPacking,
    differences,
    doubled,
)
from lotor.protocols.helba.terms import HelbaTerms

BLOCKS: Final = 4
"""Of a quarter of the slots each."""

# Roundings that a sum over blocks holds: four of a product, two of the first rotation, one of the
# second.
_ROUNDINGS: Final = 4 + 2 + 1
# The same sum holds so many errors of a change of keys, and none exceeds so many deviations.
_ROTATED, _DEVIATIONS = 2 + 1, 6


@dataclass(frozen=True)
class PlanePacking(QuadraticPacking):
    """Slots are pairs of arms, in each block the same ones; `comparison` is that of one block."""

    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """B = [M11, M22, M12, M12] with M = q·(x_k x_k^T - x_o x_o^T), and D = [d1, d2, d1, d2]."""
        quadratic, linear = self.bounds.factors(t, start)
        factor = self.comparison.polynomial.factor
        first, second = x[:, :, 0], x[:, :, 1]
        mixed = self._pairs(first * second * (quadratic * factor))
        squares = [self._pairs(one * one * (quadratic * factor)) for one in (first, second)]
        parts = [self._pairs(one * (linear * factor)) for one in (first, second)]
        return [np.concatenate([*squares, mixed, mixed]), np.concatenate([*parts, *parts])]

    def _pairs(self, values: Floats) -> Floats:
        """One block of differences, of values of shape (repetitions, arms)."""
        return self.comparison.layout.spread(values)

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
            [np.broadcast_to(self.everywhere(one), self.comparison.slots) for one in numbers]
        )

    def ridge(self) -> list[float | Floats]:
        """P and Q before the first round, public."""
        diagonal = self.bounds.policy.ridge * self.bounds.v_factor
        return [np.repeat([diagonal, diagonal, 0.0, 0.0], self.comparison.slots), 0.0]


class PlaneCircuit(QuadraticCircuit):
    """index="optimistic-quadratic" for d = 2, with four ciphertexts in a round instead of ten."""

    @staticmethod
    def suits(terms: HelbaTerms) -> bool:
        """Whether a block has room for all pairs of arms."""
        slots = terms.insecure_degree // 2 or MOST_SLOTS
        return terms.d == 2 and BLOCKS * PairLayout.smallest_period(terms.arms) <= slots

    @cached_property
    def comparison(self) -> PairComparison:
        """Of one block; all blocks do the same."""
        return PairComparison(self.terms.arms, self.terms.stages, self.parameters.slots // BLOCKS)

    @cached_property
    def packing(self) -> PlanePacking:
        return PlanePacking(self.bounds, self.comparison)

    @property
    def rotations(self) -> list[int]:
        return [*halvings(BLOCKS, self.comparison.slots), *self.comparison.rotations]

    @property
    def spots(self) -> list[Spot]:
        """Of B and D."""
        levels = self.levels
        return [Spot(levels.contexts, scale) for scale in (levels.x_scale, levels.h_scale)]

    def estimate(self, sums: Sequence[Number], start: int) -> Numbers[Number]:
        """P and H."""
        p, q = sums
        p = doubled(p, self.bounds.v_doublings(start))
        return p, p * doubled(q, self.bounds.g_doublings(start))

    def differences(
        self,
        of: Sequence[Number],
        contexts: Sequence[Number],
        t: int,  # noqa: ARG002
        start: int,  # noqa: ARG002
    ) -> Number:
        """The same in all blocks."""
        return sum_slots(differences(of, contexts), BLOCKS, self.comparison.slots)

    def arithmetic_error(self, t: int, start: int) -> float:
        """Rotations have an error of their own, which no rescale makes small."""
        rotation = self.parameters.rotation_deviation(self.levels.contexts + 1)
        return super().arithmetic_error(t, start) + _DEVIATIONS * sqrt(_ROTATED) * rotation

    def _grown(self, quadratic: float, linear: float) -> float:
        """Every number of x_k - x_o is there twice."""
        longest = self.bounds.policy.L
        return sqrt(_ROUNDINGS) + quadratic * sqrt(2) * longest**2 + linear * sqrt(2) * 2 * longest

    def per_round(self) -> Counts:
        """The score of all pairs, their comparison, the product over each arm's pairs."""
        counts: Counts = Counter()
        level = self.levels.contexts
        counting.products(counts, len(self.spots), level)
        counts["rotate", level + 1] += len(halvings(BLOCKS, self.comparison.slots))
        self._comparison(counts, level + 1)
        return counts

    def per_update(self, start: int) -> Counts:  # noqa: ARG002
        """H = P·Q."""
        counts: Counts = Counter()
        counting.products(counts, 1, self.levels.inverse)
        return counts

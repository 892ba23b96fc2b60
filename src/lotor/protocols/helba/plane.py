"""The form without a root in the plane, d = 2: four numbers side by side in one ciphertext.

The adjugate of V needs no product there, so that with blocks of a quarter of the slots

    P = [V22, V11, -V12, -V12],  Q = [g1, g2, g2, g1],  H = P·Q

are all that an estimate is. A round's contexts are two ciphertexts, B beside P and D beside H (see
`PlanePacking`), and the four blocks of B·P + D·H add up to what is compared.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import sqrt
from typing import Final

from lotor.crypto.ckks import PairLayout
from lotor.crypto.ckks.evaluator import halvings
from lotor.crypto.ckks.formulas import Number, sum_slots
from lotor.protocols.helba import counts as counting
from lotor.protocols.helba.circuit import Numbers, Spot, differences, doubled
from lotor.protocols.helba.comparing import MOST_SLOTS, Comparing
from lotor.protocols.helba.counts import Counts
from lotor.protocols.helba.plane_packing import BLOCKS, PlanePacking
from lotor.protocols.helba.quadratic import Quadratic
from lotor.protocols.helba.terms import Terms

# Roundings that a sum over blocks holds: four of a product, two of the first rotation, one of the
# second.
_ROUNDINGS: Final = 4 + 2 + 1
# Errors of a change of keys in the same sum, and how many deviations none passes.
_ROTATED, _DEVIATIONS = 2 + 1, 6


class Plane(Quadratic):
    """index="optimistic-quadratic" for d = 2, with four ciphertexts in a round instead of ten."""

    @staticmethod
    def suits(terms: Terms) -> bool:
        """Whether a block has room for all pairs of arms."""
        slots = terms.insecure_degree // 2 or MOST_SLOTS
        return terms.d == 2 and BLOCKS * PairLayout.smallest_period(terms.arms) <= slots

    @cached_property
    def comparing(self) -> Comparing:
        """In one block; all blocks do the same."""
        return Comparing(self.terms.arms, self.terms.stages, self.parameters.slots // BLOCKS)

    @cached_property
    def packing(self) -> PlanePacking:
        return PlanePacking(self.bounds, self.comparing)

    @property
    def rotations(self) -> list[int]:
        return [*halvings(BLOCKS, self.comparing.slots), *self.comparing.rotations]

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
        return sum_slots(differences(of, contexts), BLOCKS, self.comparing.slots)

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
        counts["rotate", level + 1] += len(halvings(BLOCKS, self.comparing.slots))
        self._comparison(counts, level + 1)
        return counts

    def per_update(self, start: int) -> Counts:  # noqa: ARG002
        """H = P·Q."""
        counts: Counts = Counter()
        counting.products(counts, 1, self.levels.inverse)
        return counts

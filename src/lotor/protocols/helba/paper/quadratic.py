"""The index without a root: the server is alone with its ciphertexts from beginning to end.

Slots are comparisons of pairs of arms (see `PairLayout`); every slot of a repetition holds the same
V and g, and its own pair's part of the contexts. For the arms k and o the value is

    <X, q·(x_k x_k^T - x_o x_o^T)> + <x_k - x_o, X g>

which is the difference of their indices, times det V > 0 where X is the adjugate.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Final

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    Parameters,
    SignPolynomial,
    adjugate,
    dot,
    inverse,
    upper_places,
    winners,
)
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba.paper import counts as counting
from lotor.protocols.helba.paper.bounds import QuadraticBounds
from lotor.protocols.helba.paper.counts import Counts
from lotor.protocols.helba.paper.index_circuit import (
    MOST_SLOTS,
    ROUNDING,
    Estimate,
    IndexCircuit,
    Numbers,
    PairComparison,
    SlotPacking,
    Spot,
    Sums,
)
from lotor.protocols.helba.terms import HelbaTerms

# X·g and the product with contexts.
_SCORE_LEVELS: Final = 2


def estimate(sums: Sums[Number], bounds: QuadraticBounds, start: int) -> Estimate[Number]:
    """The estimate from all rounds before `start` (line 15 of Algorithm 4)."""
    sums = doubled_sums(sums, bounds, start)
    x = adjugate(sums.v) if bounds.by_adjugate else inverse(sums.v, bounds.newton)
    h = [dot([(x[i, j], sums.g[j]) for j in range(x.size)]) for i in range(x.size)]
    return Estimate(x, tuple(h))


def doubled_sums(sums: Sums[Number], bounds: QuadraticBounds, start: int) -> Sums[Number]:
    """V and g of all rounds before `start`, as large as their bounds allow."""
    doublings = bounds.v_doublings(start)
    v = sums.v.map(lambda _, entry: doubled(entry, doublings))
    return Sums(v, tuple(doubled(entry, bounds.g_doublings(start)) for entry in sums.g))


def doubled(x: Number, times: int) -> Number:
    """2^times·x, by additions."""
    for _ in range(times):
        x = x + x
    return x


def differences(of: Sequence[Number], contexts: Sequence[Number]) -> Number:
    """The differences of all pairs' indices (lines 6 and 7), scaled for the comparison."""
    return dot(list(zip(of, contexts, strict=True)))


@dataclass(frozen=True)
class QuadraticPacking(SlotPacking):
    """Slots are pairs of arms."""

    bounds: QuadraticBounds
    comparison: PairComparison

    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """For each pair q·(x_k x_k^T - x_o x_o^T), then x_k - x_o."""
        quadratic, linear = self.bounds.factors(t, start)
        factor = self.comparison.polynomial.factor
        place = self.comparison.layout.place
        slots = []
        for i, j in upper_places(self.bounds.d):
            products = x[:, :, i] * x[:, :, j] * (quadratic * factor * (1 if i == j else 2))
            slots.append(place(products[:, :, None] - products[:, None, :]))
        for i in range(self.bounds.d):
            scaled = x[:, :, i] * (linear * factor)
            slots.append(place(scaled[:, :, None] - scaled[:, None, :]))
        return slots

    def read(self, slots: Floats, repetitions: int) -> Floats:
        """From the mean of all slots that hold the same: noise was chosen for that mean."""
        layout = self.comparison.layout
        return layout.read(slots.reshape(-1, layout.columns).mean(axis=0), repetitions)

    def everywhere(self, values: Floats) -> Floats:
        if len(values) == 1:
            # One number for all slots is encoded sixty times as fast. It does no harm in slots
            # where nothing is compared, since an estimate never leaves the server.
            return np.asarray(values[0])
        layout = self.comparison.layout
        columns = np.zeros(layout.columns)
        columns[: len(values) * layout.arms] = np.repeat(values, layout.arms)
        return np.tile(columns, layout.opponents)


@dataclass(frozen=True, slots=True)
class QuadraticLevels:
    """At which levels and scales the circuit needs ciphertexts.

    A product of contexts with X or h lands on the scale of its level, without an alignment.
    """

    inverse: int
    contexts: int
    x_scale: float
    h_scale: float

    @classmethod
    def of(cls, bounds: QuadraticBounds, parameters: Parameters) -> "QuadraticLevels":
        scales, levels = parameters.scales, bounds.inverse_levels()
        x = _inverse_scale(bounds, parameters)
        h = x * scales[0] / parameters.dropped_prime(levels)
        goal = scales[levels + 1] ** 2
        return cls(levels, levels + 1, goal / x, goal / h)

    def scales(self, d: int) -> list[float]:
        """For each ciphertext of a round's contexts."""
        return [self.x_scale] * len(upper_places(d)) + [self.h_scale] * d

    def spots(self, d: int) -> list[Spot]:
        """For each ciphertext of a round's contexts."""
        return [Spot(self.contexts, scale) for scale in self.scales(d)]


def _inverse_scale(bounds: QuadraticBounds, parameters: Parameters) -> float:
    """The scale of X, which is not its level's own where levels 0 and 1 meet."""
    scales, levels = parameters.scales, bounds.inverse_levels()
    if bounds.by_adjugate:
        if bounds.d == 4:
            return scales[0] * scales[1] / parameters.dropped_prime(1)
        return scales[levels]
    scale = scales[0]
    for level in range(1, levels):
        scale = scale * scales[level] / parameters.dropped_prime(level)
    return scale


class QuadraticCircuit(IndexCircuit):
    """index="optimistic-quadratic"."""

    @classmethod
    def levels_for(cls, terms: HelbaTerms) -> int:
        """Inverse, score, comparison, and the product over pairs."""
        comparison = PairComparison(terms.arms, terms.stages, MOST_SLOTS)
        return QuadraticBounds.of(terms).inverse_levels() + _SCORE_LEVELS + comparison.levels

    @cached_property
    def bounds(self) -> QuadraticBounds:
        return QuadraticBounds.of(self.terms)

    @cached_property
    def comparison(self) -> PairComparison:
        return PairComparison(self.terms.arms, self.terms.stages, self.parameters.slots)

    @cached_property
    def packing(self) -> QuadraticPacking:
        return QuadraticPacking(self.bounds, self.comparison)

    @cached_property
    def levels(self) -> QuadraticLevels:
        return QuadraticLevels.of(self.bounds, self.parameters)

    @property
    def polynomial(self) -> SignPolynomial:
        return self.comparison.polynomial

    @property
    def rotations(self) -> list[int]:
        return self.comparison.rotations

    @property
    def spots(self) -> list[Spot]:
        return self.levels.spots(self.terms.d)

    @property
    def copies(self) -> int:
        """Each arm's product comes to the same in the slots of all its opponents."""
        return self.parameters.slots // self.comparison.layout.columns

    @property
    def repetitions(self) -> int:
        return self.comparison.layout.repetitions

    def estimate(self, sums: Sequence[Number], start: int) -> Numbers[Number]:
        return estimate(Sums.of(sums, self.terms.d), self.bounds, start).listed()

    def differences(
        self,
        of: Sequence[Number],
        contexts: Sequence[Number],
        t: int,  # noqa: ARG002
        start: int,  # noqa: ARG002
    ) -> Number:
        return differences(of, contexts)

    def winners(self, differences: Number) -> Number:
        layout = self.comparison.layout
        return winners(differences, layout, self.polynomial, self.parameters.slots)

    def arithmetic_error(self, t: int, start: int) -> float:
        """An error of V, g, X or h is doubled with them and multiplied by the contexts."""
        parameters, bounds = self.parameters, self.bounds
        grown = self._grown(*bounds.factors(t, start))
        doublings = max(bounds.v_doublings(start), bounds.g_doublings(start))
        error = ROUNDING * parameters.degree * 2.0 ** (doublings - parameters.scale_bits) * grown
        return float(error if bounds.by_adjugate else error + bounds.newton.error)

    def _grown(self, quadratic: float, linear: float) -> float:
        """One rounding's error, and those of X and h times the length of scaled contexts."""
        longest = self.bounds.policy.L
        return 1 + quadratic * sqrt(2) * longest**2 + linear * 2 * longest

    def gap(self, value: float, t: int, start: int, log_determinant: float | None = None) -> float:
        """Without ln det V, contexts are taken to be as long as allowed in all directions alike."""
        if log_determinant is None:
            log_determinant = self.bounds.balanced(start)
        return self.bounds.gap(value, t, start, log_determinant)

    def per_round(self) -> Counts:
        """The score of all pairs, their comparison, the product over each arm's pairs."""
        counts: Counts = Counter()
        d, level = self.terms.d, self.levels.contexts
        counting.products(counts, len(upper_places(d)) + d, level)
        self._comparison(counts, level + 1)
        return counts

    def _comparison(self, counts: Counts, level: int) -> None:
        """The sign of all differences at this level, and the product over each arm's pairs."""
        level = counting.comparison(counts, self.polynomial, level)
        counting.pairs_product(counts, len(self.comparison.rotations), level)

    def per_update(self, start: int) -> Counts:  # noqa: ARG002
        """X from V, and h = X g."""
        counts: Counts = Counter()
        d, levels = self.terms.d, self.levels.inverse
        if self.bounds.by_adjugate:
            counting.adjugate(counts, d)
        else:
            counting.newton(counts, d, levels)
        for _ in range(d):
            counting.products(counts, d, levels)
        return counts

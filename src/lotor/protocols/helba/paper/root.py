"""The paper's index: the user refreshes each new estimate once."""

import secrets
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import sqrt
from typing import Final

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.ckks import (
    ChebyshevSeries,
    SignPolynomial,
    upper_places,
    winners,
)
from lotor.crypto.ckks.formulas import Number
from lotor.crypto.ckks.refresh import SMALLEST_MASK_BITS
from lotor.protocols.helba.paper import counts as counting
from lotor.protocols.helba.paper.bounds import RootBounds
from lotor.protocols.helba.paper.counts import Counts, moved, series_counts
from lotor.protocols.helba.paper.index_circuit import (
    LEAST_SCALE_BITS,
    MOST_SLOTS,
    ROUNDING,
    Estimate,
    IndexCircuit,
    Numbers,
    PairComparison,
    Spot,
    Sums,
    scale_bits_for,
)
from lotor.protocols.helba.paper.root_formulas import (
    EstimateSpots,
    MirroredPairs,
    RootPacking,
    covered_sign,
    differences,
    estimate,
    scaled_root,
    unit_root,
)
from lotor.protocols.helba.terms import HelbaTerms

ROOT_DEGREES: Final = (63, 31, 15)
"""Degrees of the polynomial for the root: the largest whose levels fit is taken."""
MASK_WIDTH: Final = 2.0**SMALLEST_MASK_BITS
"""How far a mask reaches over numbers up to 1."""
# Scaling V and g, h = X g, scaling X and h, and the prime that leaves room for a mask.
_REFRESH_LEVELS: Final = 4


class RootCircuit(IndexCircuit):
    """index="sqrt"."""

    @classmethod
    def of(cls, circuit: IndexCircuit) -> "RootCircuit":
        """The circuit of a run with the paper's index."""
        if not isinstance(circuit, cls):
            raise InputError("this run has no root to compute: only index='sqrt' has")
        return circuit

    @classmethod
    def levels_for(cls, terms: HelbaTerms) -> int:
        return _levels(terms, root_degree(terms))

    @cached_property
    def bounds(self) -> RootBounds:
        return RootBounds.of(self.terms)

    @cached_property
    def pairs(self) -> MirroredPairs:
        return MirroredPairs(self.terms.arms, self.parameters.slots)

    @cached_property
    def polynomial(self) -> SignPolynomial:
        return PairComparison(self.terms.arms, self.terms.stages, MOST_SLOTS).polynomial

    @cached_property
    def packing(self) -> RootPacking:
        return RootPacking(self.bounds, self.pairs, self.polynomial, self.unit_root.error)

    @cached_property
    def unit_root(self) -> ChebyshevSeries:
        return unit_root(root_degree(self.terms))

    @property
    def rotations(self) -> list[int]:
        return self.pairs.rotations

    @cached_property
    def x_spot(self) -> Spot:
        """Of X and of each arm's x x^T: as late as the rest of a round allows."""
        after = 1 + self.unit_root.levels + self.polynomial.levels + self.pairs.levels
        return self._spot(self.parameters.levels - after)

    @cached_property
    def h_spot(self) -> Spot:
        """Of h and of differences x - y: where the roots are one level later."""
        return self._spot(self.x_spot.level + self.unit_root.levels)

    @cached_property
    def switch_spot(self) -> Spot:
        """Of what condition (8) is computed from."""
        return self._spot(self.parameters.levels - 1 - self.polynomial.levels)

    @property
    def mask_level(self) -> int:
        """Where an estimate is masked: the last whose modulus has room."""
        return self.parameters.levels - 1

    def _spot(self, level: int) -> Spot:
        return Spot(level, self.parameters.scales[level])

    @property
    def spots(self) -> list[Spot]:
        d = self.terms.d
        return [self.x_spot] * len(upper_places(d)) + [self.h_spot] * d

    @property
    def repetitions(self) -> int:
        return self.pairs.repetitions

    def estimate(self, sums: Sequence[Number], start: int) -> Numbers[Number]:
        """At the level of masks, with the scales that the differences need."""
        x, h = (Spot(self.mask_level, spot.scale) for spot in (self.x_spot, self.h_spot))
        spots = EstimateSpots(self._spot(self._sums_level(start)), x, h)
        return estimate(Sums.of(sums, self.terms.d), self.bounds, start, spots).listed()

    def _sums_level(self, start: int) -> int:
        """As late as possible: an operation is the cheaper the fewer primes are left."""
        return self.mask_level - self.bounds.newton(start).levels - 2

    def differences(
        self, of: Sequence[Number], contexts: Sequence[Number], t: int, start: int
    ) -> Number:
        bounds = self.bounds
        unit = bounds.beta(t, start) * self.packing.unit(t, start)
        root = scaled_root(bounds, self.unit_root.degree, start, unit)
        offset = 2 * bounds.policy.slack(start) / bounds.longest(start) - 1
        return differences(Estimate.of(of, self.terms.d), contexts, self.pairs, root, offset)

    def winners(self, differences: Number) -> Number:
        """With more than two arms, only the slots of answers are left."""
        pairs = self.pairs
        b = winners(differences, pairs.layout, self.polynomial, pairs.slots)
        return b if pairs.arms == 2 else b * pairs.answers()

    def covered_sign(
        self, of: Sequence[Number], before: Sequence[Number], sums: Sequence[Number], coin: int
    ) -> Number:
        """Whether condition (8) ends a batch: ±1/2 times the coin, in the first slot."""
        d = self.terms.d
        began, now = Sums.of(before, d).v, Sums.of(sums, d).v
        batch = now.map(lambda place, entry: entry - began[place])
        slots = np.zeros(self.parameters.slots)
        slots[0] = coin
        return covered_sign(
            Estimate.of(of, d).x, batch, self.bounds, self.polynomial, slots, self.switch_spot
        )

    @staticmethod
    def uncovered(bit: bool, coin: int) -> bool:
        """Whether a batch ends, from the bit that the user saw."""
        return bit == (coin > 0)

    def root_error(self, t: int, start: int) -> float:
        """The part of `arithmetic_error` that is due to the polynomial for the root."""
        spread = 2 * self.bounds.beta(t, start) * sqrt(self.bounds.longest(start))
        return spread * self.unit_root.error / self.packing.difference(t, start)

    def arithmetic_error(self, t: int, start: int) -> float:
        """The root's own error first of all; then the inverse's, and noise that both widen."""
        bounds, policy, noise = self.bounds, self.bounds.policy, self._noise
        spread = bounds.beta(t, start) * sqrt(bounds.longest(start))
        estimated = 2 * policy.L * bounds.weights(start) + spread
        g_noise = noise / policy.ridge * (1 / bounds.g_factor + 1 / bounds.g_scale(start))
        # Of z, absolute: where the polynomial is steepest it has about its degree as a slope.
        steep = 2 * spread * self.unit_root.degree * noise
        computed = steep + self._inverse_error(start) * estimated + 2 * policy.L * g_noise
        return self.root_error(t, start) + computed / self.packing.difference(t, start) + noise

    @property
    def _noise(self) -> float:
        return ROUNDING * self.parameters.degree * 2.0**-self.parameters.scale_bits

    def _inverse_error(self, start: int) -> float:
        """Of X, relative: the iteration's own, and noise of V beside its smallest eigenvalue."""
        bounds, ridge = self.bounds, self.bounds.policy.ridge
        noise = self._noise / ridge * (1 / bounds.v_factor + 1 / bounds.v_scale(start))
        return bounds.newton(start).error + noise

    def gap(
        self,
        value: float,
        t: int,
        start: int,
        log_determinant: float | None = None,  # noqa: ARG002
    ) -> float:
        """The same for every det V, since V is inverted."""
        return value * self.packing.difference(t, start)

    def switch_resolution(self) -> float | None:
        """The answer exceeds noise by six deviations there."""
        bounds, policy = self.bounds, self.bounds.policy
        if policy.C is None:
            return None
        decided = self.polynomial.resolution(1 - 2 * 6 * self.terms.noise)
        grown = self._noise * (1 + 1 / (policy.ridge * bounds.v_factor))
        inverse = self._inverse_error(self.terms.budget)
        return bounds.switch * (decided + grown) + (policy.C + bounds.switch) * inverse

    def per_round(self) -> Counts:
        counts: Counts = Counter()
        d, first, end = self.terms.d, self.x_spot.level, self.h_spot.level + 1
        counting.products(counts, len(upper_places(d)), first)
        counts.update(series_counts(self.unit_root, first + 1))
        counts["rotate", end] += 1
        counting.products(counts, d, end - 1)
        level = counting.comparison(counts, self.polynomial, end)
        level = counting.pairs_product(counts, len(self.pairs.layout.rotations), level)
        if self.terms.arms > 2:
            moved(counts, 1, level + 1)
        return counts

    def per_update(self, start: int) -> Counts:
        """The first is public and takes nothing."""
        counts: Counts = Counter()
        d, levels = self.terms.d, self.bounds.newton(start).levels
        entries = len(upper_places(d))
        if start > 1:
            first = self._sums_level(start)
            moved(counts, entries + d, first)
            counting.newton(counts, d, levels, first)
            for _ in range(d):
                counting.products(counts, d, first + levels)
            moved(counts, entries + d, self.mask_level)
        return counts

    def refreshed(self, start: int) -> list[Spot]:
        return self.spots if start > 1 else []

    def per_switch(self) -> Counts:
        counts: Counts = Counter()
        if self.bounds.policy.C is None:
            return counts
        entries, level = len(upper_places(self.terms.d)), self.switch_spot.level
        moved(counts, 2 * entries, level)
        counting.products(counts, entries, level)
        counting.comparison(counts, self.polynomial, level + 1)
        return counts


def new_coin() -> int:
    """1 or -1, from the operating system."""
    return 1 - 2 * secrets.randbelow(2)


def root_degree(terms: HelbaTerms) -> int:
    """The largest degree of the root's polynomial that fits; the smallest if none does."""
    for degree in ROOT_DEGREES:
        if scale_bits_for(_levels(terms, degree), terms.security) >= LEAST_SCALE_BITS:
            return degree
    return ROOT_DEGREES[-1]


def _levels(terms: HelbaTerms, degree: int) -> int:
    """Of a round or of a new estimate, whichever is deeper."""
    pairs = MirroredPairs(terms.arms, MOST_SLOTS)
    polynomial = PairComparison(terms.arms, terms.stages, MOST_SLOTS).polynomial
    choice = 1 + (degree + 1).bit_length() - 1 + polynomial.levels + pairs.levels
    return max(choice, RootBounds.of(terms).most_newton_levels() + _REFRESH_LEVELS)

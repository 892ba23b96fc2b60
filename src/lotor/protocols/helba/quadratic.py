"""The form without a root: the server is alone with its ciphertexts from beginning to end."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import sqrt
from typing import Final

from lotor.crypto.ckks import SignPolynomial, upper_places, winners
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba import counts as counting
from lotor.protocols.helba.bounds import Bounds
from lotor.protocols.helba.circuit import (
    Levels,
    Numbers,
    Spot,
    Sums,
    differences,
    estimate,
)
from lotor.protocols.helba.comparing import MOST_SLOTS, Comparing
from lotor.protocols.helba.counts import Counts
from lotor.protocols.helba.form import ROUNDING, Form
from lotor.protocols.helba.packing import Packing
from lotor.protocols.helba.terms import Terms

# X·g and the product with contexts.
_SCORE_LEVELS: Final = 2


class Quadratic(Form):
    """index="optimistic-quadratic"."""

    @classmethod
    def levels_for(cls, terms: Terms) -> int:
        """Inverse, score, comparison, and the product over pairs."""
        comparing = Comparing(terms.arms, terms.stages, MOST_SLOTS)
        return Bounds.of(terms).inverse_levels() + _SCORE_LEVELS + comparing.levels

    @cached_property
    def bounds(self) -> Bounds:
        return Bounds.of(self.terms)

    @cached_property
    def comparing(self) -> Comparing:
        return Comparing(self.terms.arms, self.terms.stages, self.parameters.slots)

    @cached_property
    def packing(self) -> Packing:
        return Packing(self.bounds, self.comparing)

    @cached_property
    def levels(self) -> Levels:
        return Levels.of(self.bounds, self.parameters)

    @property
    def polynomial(self) -> SignPolynomial:
        return self.comparing.polynomial

    @property
    def rotations(self) -> list[int]:
        return self.comparing.rotations

    @property
    def spots(self) -> list[Spot]:
        return self.levels.spots(self.terms.d)

    @property
    def copies(self) -> int:
        """Each arm's product comes to the same in the slots of all its opponents."""
        return self.parameters.slots // self.comparing.layout.columns

    @property
    def repetitions(self) -> int:
        return self.comparing.layout.repetitions

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
        comparing = self.comparing
        return winners(differences, comparing.layout, comparing.polynomial, self.parameters.slots)

    def arithmetic_error(self, t: int, start: int) -> float:
        """An error of V, g, X or h is doubled with them and multiplied by what contexts are."""
        parameters, bounds = self.parameters, self.bounds
        grown = self._grown(*bounds.factors(t, start))
        doublings = max(bounds.v_doublings(start), bounds.g_doublings(start))
        error = ROUNDING * parameters.degree * 2.0 ** (doublings - parameters.scale_bits) * grown
        return float(error if bounds.by_adjugate else error + bounds.newton.error)

    def _grown(self, quadratic: float, linear: float) -> float:
        """One rounding's error, and those of X and h times the length of contexts by factors."""
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
        counting.pairs_product(counts, len(self.comparing.rotations), level)

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

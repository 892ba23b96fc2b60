"""The formulas of the paper's index: on ciphertexts, and on arrays as their plain twin.

With X = ridge·V^-1 and h = w/W of the batch, slots of the first half hold an arm and those of the
second half its opponent (see `MirroredPairs`). An arm's z = <V^-1, x x^T> goes through a polynomial
for beta·sqrt(z + eps), one rotation gives differences of pairs, and <x - y, w> is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    ChebyshevSeries,
    Encrypted,
    PairLayout,
    SignPolynomial,
    SymmetricMatrix,
    dot,
    inverse,
    square_root,
    upper_places,
)
from lotor.crypto.ckks.formulas import Number, rotate
from lotor.protocols.helba.paper.bounds import RootBounds
from lotor.protocols.helba.paper.index_circuit import Estimate, SlotPacking, Spot, Sums


@dataclass(frozen=True, slots=True)
class MirroredPairs:
    """All pairs of `arms` arms in `slots` slots, where each arm's number takes long to compute.

    The first half of the slots holds the number of an arm and the second half, in the same order,
    that of its opponent: one rotation by half of all slots gives all differences, and in the second
    half those of the mirrored pairs. Two arms are one pair, whose mirror is the other arm's
    comparison. With more, each arm is compared with all others in the first half (see
    `PairLayout`). The user must not see the second half then, and `answers` blanks it.

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
        """How many levels the products and blanking the second half take."""
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


@dataclass(frozen=True)
class RootPacking(SlotPacking):
    """Slots are arms and, in the second half, their opponents."""

    bounds: RootBounds
    pairs: MirroredPairs
    polynomial: SignPolynomial
    root_error: float  # of the root on [0, 1]

    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """x x^T of each arm, so that u = 2z/longest follows; then differences x_k - x_o."""
        bounds = self.bounds
        quadratic = 2 / (bounds.policy.ridge * bounds.longest(start))
        linear = bounds.weights(start) * self.unit(t, start)
        slots = []
        for i, j in upper_places(bounds.d):
            factor = quadratic * (1 if i == j else 2)
            slots.append(self.pairs.both(x[:, :, i] * x[:, :, j] * factor))
        for i in range(bounds.d):
            slots.append(self.pairs.differences(x[:, :, i] * linear))
        return slots

    def difference(self, t: int, start: int) -> float:
        """At least the difference of two indices as they are computed."""
        error = self.root_error * self.bounds.longest(start) ** 0.5
        return self.bounds.difference(t, start, error)

    def unit(self, t: int, start: int) -> float:
        """The factor of a difference of indices before it is compared."""
        return self.polynomial.factor / self.difference(t, start)

    def read(self, slots: Floats, repetitions: int) -> Floats:
        return self.pairs.read(slots, repetitions)

    def everywhere(self, values: Floats) -> Floats:
        return self.pairs.everywhere(values)

    def first_estimate(self) -> list[float]:
        """X and h before the first round, public."""
        d = self.bounds.d
        return [1.0 if i == j else 0.0 for i, j in upper_places(d)] + [0.0] * d


class EstimateSpots(NamedTuple):
    """Where an estimate needs the sums, and where its X and h are masked."""

    sums: Spot
    x: Spot
    h: Spot


@lru_cache
def unit_root(degree: int) -> ChebyshevSeries:
    """The root on [0, 1], from which that on any range follows."""
    return square_root(1.0, degree)


def estimate(
    sums: Sums[Number], bounds: RootBounds, start: int, spots: EstimateSpots
) -> Estimate[Number]:
    """The estimate from all rounds before `start` (line 15), ready to be masked and refreshed."""
    v_scale, g_scale = bounds.v_scale(start), bounds.g_scale(start)
    v = sums.v.map(lambda _, entry: times(entry, v_scale / bounds.v_factor, spots.sums))
    g = [times(entry, g_scale / bounds.g_factor, spots.sums) for entry in sums.g]
    x = inverse(v, bounds.newton(start))
    h = [dot([(x[i, j], g[j]) for j in range(x.size)]) for i in range(x.size)]
    x_unit, h_unit = bounds.x_unit(start), bounds.h_unit(start)
    return Estimate(
        x.map(lambda _, entry: times(entry, x_unit, spots.x)),
        tuple(times(entry, h_unit, spots.h) for entry in h),
    )


def differences(
    of: Estimate[Number],
    contexts: Sequence[Number],
    pairs: MirroredPairs,
    root: ChebyshevSeries,
    offset: float,
) -> Number:
    """The differences of all pairs' indices (lines 6 and 7), scaled for the comparison.

    `root` has beta and that scale in its coefficients, and expects u = z's part of it + `offset`.
    """
    listed, squares = of.listed(), len(upper_places(of.x.size))
    u = dot(list(zip(listed[:squares], contexts[:squares], strict=True))) + offset
    roots = at(root, u)
    linear = dot(list(zip(listed[squares:], contexts[squares:], strict=True)))
    return roots - rotate(roots, pairs.half) + linear


def covered_sign(
    x: SymmetricMatrix[Number],
    batch: SymmetricMatrix[Number],
    bounds: RootBounds,
    comparison: SignPolynomial,
    coin: Floats,
    spot: Spot,
) -> Number:
    """The sign of condition (8) times a coin of ±1 in the slots where `coin` is not 0, else 0.

    `batch` is the sum of x x^T since the batch began; both are brought to this spot.
    """
    policy = bounds.policy
    unit = coin * (comparison.factor / bounds.switch)
    per = unit / (policy.ridge * bounds.v_factor)
    pairs = [
        (times(x[i, j], 1.0, spot), times(batch[i, j], per * (1 if i == j else 2), spot))
        for i, j in upper_places(x.size)
    ]
    return comparison.evaluate(dot(pairs) - unit * (policy.C or 0.0))


def times(x: Number, factor: float | Floats, spot: Spot) -> Number:
    """A public multiple, in encrypted form at this level and scale."""
    if isinstance(x, Encrypted):
        moved = x.evaluator.weighted_sum(
            [(factor, x.ciphertext)], level=spot.level, scale=spot.scale
        )
        return Encrypted(x.evaluator, moved)
    return x * factor


def at(series: ChebyshevSeries, u: Number) -> Number:
    """The series at u."""
    if isinstance(u, Encrypted):
        return series.evaluate(u)
    return np.asarray(chebyshev.chebval(u, series.coefficients))


def scaled_root(bounds: RootBounds, degree: int, start: int, factor: float) -> ChebyshevSeries:
    """factor·sqrt(y) for y up to `bounds.longest`, as a series in u = 2y/longest - 1."""
    unit, high = unit_root(degree), bounds.longest(start)
    grown = factor * sqrt(high)
    coefficients = tuple(c * grown for c in unit.coefficients)
    return replace(unit, high=high, coefficients=coefficients, error=unit.error * abs(grown))

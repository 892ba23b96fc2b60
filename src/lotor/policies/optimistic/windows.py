"""How large the numbers of a whole-number index can become, whatever contexts and rewards are.

With n <= N - 1 rounds in the estimate, every eigenvalue of V is at least the ridge, and their sum
is at most d·ridge + n·X, where X bounds |x|^2 on the grid. So, by the inequality of the arithmetic
and geometric means,

- det V <= D = (ridge + n X/d)^d;
- z = x^T adj(V) x <= Z = X (ridge + n X/(d-1))^(d-1): one eigenvalue, the smallest, is left out;
- |<x, adj(V) g>| <= A = r sqrt(n D Z): by Cauchy and Schwarz it is at most
  sqrt(det V · z) sqrt(g^T V^-1 g), and g^T V^-1 g <= sum of squared rewards <= n r^2, since
  V >= sum of x x^T.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt

from lotor.core.fixed_point import RewardScale
from lotor.policies.linear.bounds import NORM_SLACK
from lotor.policies.optimistic.grid import WholeIndex


@dataclass(frozen=True)
class IndexWindows:
    """Bounds for a run of `budget` rounds; all of them are whole numbers.

    >>> from lotor.policies.optimistic import BatchedOFUL, Grid
    >>> windows = IndexWindows(WholeIndex(BatchedOFUL(), Grid(), 2), RewardScale(-6, 6), 130)
    >>> windows.score_values.bit_length()
    75
    """

    index: WholeIndex
    scale: RewardScale
    budget: int

    @cached_property
    def square(self) -> int:
        """X: rounding moves each of d numbers by at most half a unit."""
        index = self.index
        length = Fraction(index.policy.L) * (1 + 2 * Fraction(NORM_SLACK))
        longest = length * (1 << index.grid.context_bits)
        return ceil(longest * longest + longest * _root(index.d) + Fraction(index.d, 4))

    @cached_property
    def reward(self) -> int:
        """r, with a unit for rewards that floats carry just beyond their range."""
        ends = (self.scale.low, self.scale.high)
        return max(abs(self.index.grid.reward(end)) for end in ends) + 1

    def determinant(self, start: int) -> int:
        """D of a batch that begins with round `start`."""
        d = self.index.d
        return ceil((self.index.ridge + Fraction((start - 1) * self.square, d)) ** d)

    @cached_property
    def quadratic(self) -> int:
        """Z."""
        index, others = self.index, self.index.d - 1
        if not others:
            return self.square
        mean = index.ridge + Fraction((self.budget - 1) * self.square, others)
        return self.square * ceil(mean**others)

    @cached_property
    def linear(self) -> int:
        """A."""
        product = (self.budget - 1) * self.determinant(self.budget) * self.quadratic
        return self.reward * (isqrt(product) + 1)

    @cached_property
    def offset(self) -> int:
        """What makes <x, adj(V) g> non-negative; a cut takes only whole units of it away."""
        if not self.index.rooted:
            return self.linear
        return -(-self.linear >> self.index.drop) << self.index.drop

    @cached_property
    def score_values(self) -> int:
        """Quadratic: a score plus the offset lies from 0 to below this. Root: its linear part."""
        highest = self.offset + self.linear
        if not self.index.rooted:
            highest += self._factor * self.quadratic
        return highest + 1

    @cached_property
    def squared_values(self) -> int:
        """Root: c lies from 0 to below this."""
        last = self.determinant(self.budget)
        most = ceil(self._square) + 1
        return most * last * self.quadratic + self._slack_values + 1

    @cached_property
    def _beta(self) -> float:
        """The largest radius: only "union" has a part that falls, from 1, as rounds pass."""
        largest = self.index.beta(self.budget, self.budget)
        return largest + 1 if self.index.policy.width == "union" else largest

    @cached_property
    def _square(self) -> float:
        """The largest b, before it is rounded."""
        return float(self._beta**2 * 4.0**self.index.grid.reward_bits)

    @cached_property
    def _factor(self) -> int:
        """The largest q: beta grows and u falls as rounds pass."""
        index, last = self.index, self.budget
        half = self._beta / (2 * index.policy.touches(last, index.d))
        return ceil(half * 2.0**index.grid.reward_bits) + 1

    @cached_property
    def _slack_values(self) -> int:
        """The largest e det(V)^2, from the ends of stretches of rounds: e falls, det V grows."""
        slack, parts = self.index.policy.slack, 16 * self.index.d
        return max(
            (ceil(self._square * slack(first)) + 1) * self.determinant(last) ** 2
            for first, last in _stretches(self.budget, parts)
        )


def _stretches(budget: int, parts: int) -> Iterator[tuple[int, int]]:
    """First and last rounds of stretches that grow by one in `parts`."""
    first = 1
    while first <= budget:
        last = min(budget, first + first // parts)
        yield first, last
        first = last + 1


def _root(number: int) -> Fraction:
    """An upper bound on the root, close to it."""
    return Fraction(isqrt(number << 40) + 1, 1 << 20)

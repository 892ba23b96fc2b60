"""What `BatchedOFUL` learns, in whole numbers: no division, no rounding after contexts are read."""

from collections.abc import Sequence
from math import isqrt
from typing import TypeAlias

from lotor.core.fixed_point import Floats
from lotor.policies.optimistic.batched_oful import BatchedOFUL
from lotor.policies.optimistic.grid import Grid, WholeIndex

Matrix: TypeAlias = Sequence[Sequence[int]]


class WholeModel:
    """V, g and the batch's estimate as `OptimisticModel` has them, on a grid.

    It keeps det V and adj V, which a rank-one update changes by an exact division:
    det(V + x x^T) = det V + <x, u> and adj(V + x x^T) = (det(V + x x^T) adj V - u u^T)/det V with
    u = adj(V) x (Sherman and Morrison, 1950, times both determinants).

    >>> import numpy as np
    >>> model = WholeModel(BatchedOFUL(), Grid(), 2)
    >>> model.update(np.array([1.0, 0.0]), 0.0)
    >>> first, second = model.indices(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> second > first  # not yet explored
    True
    """

    def __init__(self, policy: BatchedOFUL, grid: Grid, d: int) -> None:
        self._index = index = WholeIndex(policy, grid, d)
        self._determinant = index.ridge**d
        diagonal = index.ridge ** (d - 1)
        self._adjugate = [[diagonal * (i == j) for j in range(d)] for i in range(d)]
        self._g = [0] * d
        self._t = self._start = 1
        self._updates = 0
        self._estimate()

    def __repr__(self) -> str:
        return f"<WholeModel of {self._index.d} dimensions at round {self._t}>"

    @property
    def updates(self) -> int:
        """How many batches were started after the first."""
        return self._updates

    def indices(self, x: Floats) -> list[int]:
        """The score of each arm in round t; x has a row for each arm."""
        index, t, start = self._index, self._t, self._start
        rows = index.grid.contexts(x)
        parts = [(dot(row, self._weights), dot(row, times(self._inverse, row))) for row in rows]
        if not index.rooted:
            q = index.factor(t, start)
            return [a + q * z for a, z in parts]
        b, e = index.squares(t, start)
        under = [(b * z + e * self._scale) * self._scale for _, z in parts]
        drop = index.drop
        return [(a >> drop) + isqrt(c >> 2 * drop) for (a, _), c in zip(parts, under, strict=True)]

    def update(self, x: Floats, reward: float) -> None:
        """Learn what round t's arm, with context x, has paid, and go on to the next round."""
        grid, before = self._index.grid, self._determinant
        (row,) = grid.contexts(x[None])
        paid = grid.reward(reward)
        u = times(self._adjugate, row)
        self._determinant = now = before + dot(row, u)
        self._adjugate = [
            [(now * entry - one * other) // before for entry, other in zip(line, u, strict=True)]
            for line, one in zip(self._adjugate, u, strict=True)
        ]
        self._g = [g + paid * number for g, number in zip(self._g, row, strict=True)]
        self._t += 1
        if self._index.policy.due(self._t, self._start):
            self._start = self._t
            self._updates += 1
            self._estimate()

    def _estimate(self) -> None:
        """Those of all rounds before the batch; `_scale` is det V."""
        self._scale = self._determinant
        self._inverse = self._adjugate
        self._weights = times(self._adjugate, self._g)


def dot(x: Sequence[int], y: Sequence[int]) -> int:
    return sum(one * other for one, other in zip(x, y, strict=True))


def times(matrix: Matrix, x: Sequence[int]) -> list[int]:
    return [dot(row, x) for row in matrix]

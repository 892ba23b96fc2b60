"""What an optimistic policy learns: one ridge estimate for all arms, renewed batch by batch."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Protocol

import msgspec
import numpy as np

from lotor.core.errors import InputError, JournalError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.policies.linear.base import inverse


@dataclass(slots=True)
class Batch:
    """Rounds that share one estimate: from `start` (the paper's t_j) until the next update.

    `inverse` and `weights` are those of all rounds before `start`; `log_growth` is
    ln(det V / det(ridge·I)) of their V, and `trace` the sum of |x_l|^2 under `inverse` over the
    batch's own rounds so far: the right side of condition (8).
    """

    start: int
    inverse: Floats
    weights: Floats
    log_growth: float
    trace: float = 0.0


class Rules(Protocol):
    """What a model asks of its policy."""

    @property
    def ridge(self) -> float:
        """On the diagonal of V from the start."""
        ...

    def beta(self, t: int, batch: Batch) -> float:
        """The radius of round t's confidence ellipsoid."""
        ...

    def bonus(self, z: Floats, t: int, batch: Batch) -> Floats:
        """The stand-in for the root of each z = |x|^2 under the batch's inverse, in round t."""
        ...

    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        """Whether a new batch starts with round t; `log_growth` is that of all rounds before."""
        ...


class OptimisticSnapshot(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A model written down: the very floats that it computes with, as little-endian bytes."""

    v: bytes
    g: bytes
    inverse: bytes
    weights: bytes
    log_growth: float
    trace: float
    start: int
    t: int
    updates: int

    def __repr__(self) -> str:
        return f"<OptimisticSnapshot of {len(self.g) // 8} dimensions at round {self.t}>"


class OptimisticModel:
    """V = ridge·I + sum x x^T and g = sum r x over all rounds, and the batch's estimate from both.

    The index of an arm with context x is <x, w> + beta·bonus, with w = V^-1 g of the batch.
    """

    def __init__(self, rules: Rules, d: int) -> None:
        if d < 1:
            raise InputError(f"contexts of {d} numbers leave nothing to learn: give at least one")
        self._rules = rules
        self._d = d
        self._v: Floats = rules.ridge * np.eye(d)
        self._g: Floats = np.zeros(d)
        self._batch = Batch(1, np.eye(d) / rules.ridge, np.zeros(d), 0.0)
        self._t = 1
        self._updates = 0

    def __repr__(self) -> str:
        return f"<OptimisticModel of {self._d} dimensions at round {self._t}>"

    @property
    def t(self) -> int:
        """The round that is to be chosen next."""
        return self._t

    @property
    def batch(self) -> Batch:
        """The batch that round t belongs to."""
        return self._batch

    @property
    def updates(self) -> int:
        """How many batches were started after the first."""
        return self._updates

    def indices(self, x: Floats) -> Floats:
        """How much each arm may pay in round t; x has a row for each arm."""
        batch, t, rules = self._batch, self._t, self._rules
        # Sums of products by einsum: their bits do not depend on the number of threads.
        xi = np.einsum("ij,jk->ik", x, batch.inverse)
        # Rounding may leave a zero context's squared norm just below 0.
        z = np.maximum((xi * x).sum(axis=1), 0.0)
        indices: Floats = (x * batch.weights).sum(axis=1)
        return indices + rules.beta(t, batch) * rules.bonus(z, t, batch)

    def update(self, x: Floats, reward: float) -> None:
        """Learn what round t's arm, with context x, has paid, and go on to the next round."""
        batch = self._batch
        self._v += x[:, np.newaxis] * x
        self._g += reward * x
        # Condition (8), which in the paper leaves out the batch's first round by mistake.
        batch.trace += float((np.einsum("ij,j->i", batch.inverse, x) * x).sum())
        self._t += 1
        if self._rules.ends(self._t, batch, self._log_growth):
            self._batch = self._renewed()
            self._updates += 1

    def _renewed(self) -> Batch:
        try:
            inverted = inverse(self._v)
        except PolicyError:
            raise PolicyError(
                "the contexts so far cannot be told apart, because ridge is too small beside "
                "them: give a larger ridge, such as 1"
            ) from None
        weights = (inverted * self._g).sum(axis=1)
        return Batch(self._t, inverted, weights, self._log_growth())

    def _log_growth(self) -> float:
        return log_determinant(self._v / self._rules.ridge)

    def snapshot(self) -> OptimisticSnapshot:
        """All that is needed to go on."""
        batch = self._batch
        v, g, inverted, weights = (
            table.astype("<f8").tobytes()
            for table in (self._v, self._g, batch.inverse, batch.weights)
        )
        counters = (batch.start, self._t, self._updates)
        return OptimisticSnapshot(v, g, inverted, weights, batch.log_growth, batch.trace, *counters)

    def restore(self, snapshot: OptimisticSnapshot) -> None:
        """Go on exactly where a snapshot of the same run was taken."""
        d = self._d
        texts = (snapshot.v, snapshot.g, snapshot.inverse, snapshot.weights)
        shapes = ((d, d), (d,), (d, d), (d,))
        if [len(text) for text in texts] != [8 * int(np.prod(shape)) for shape in shapes]:
            raise JournalError(
                f"a snapshot does not belong to a model of {d} dimensions: the journal is damaged "
                "or of another run; restore its last copy"
            )
        self._v, self._g, inverted, weights = (
            np.frombuffer(text, dtype="<f8").astype(np.float64).reshape(shape)
            for text, shape in zip(texts, shapes, strict=True)
        )
        self._batch = Batch(snapshot.start, inverted, weights, snapshot.log_growth, snapshot.trace)
        self._t, self._updates = snapshot.t, snapshot.updates


def log_determinant(matrix: Floats) -> float:
    """ln det of a positive definite matrix, by elimination, for the same reason as `inverse`.

    >>> round(log_determinant(np.array([[2.0, 1.0], [1.0, 3.0]])), 6) == round(log(5), 6)
    True
    """
    a = matrix.copy()
    total = 0.0
    for i in range(len(a)):
        pivot = a.item(i, i)
        if not pivot > 0:
            raise PolicyError(
                "the determinant of the contexts so far is lost in rounding, because ridge is too "
                "small beside them: give a larger ridge, such as 1"
            )
        total += log(pivot)
        column = a[i + 1 :, i]
        a[i + 1 :, i + 1 :] -= column[:, np.newaxis] * (column / pivot)
    return total

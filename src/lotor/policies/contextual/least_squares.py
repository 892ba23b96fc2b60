"""Least squares for each arm, from one context to the next."""

from math import sqrt

import msgspec
import numpy as np

from lotor.core.errors import InputError, JournalError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.policies.linear.base import inverse


class LeastSquaresSnapshot(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True
):
    """A model written down: the very floats that it computes with, as little-endian bytes."""

    gram: bytes
    inverses: bytes
    sums: bytes
    weights: bytes
    updates: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<LeastSquaresSnapshot of {len(self.updates)} arms>"


class LeastSquares:
    """Each arm's ridge regression of its rewards on its contexts.

    Arm a has A_a = ridge·I + sum x x^T and b_a = sum r x over its pulls, and weights
    w_a = A_a^-1 b_a. An update changes the inverse by Sherman and Morrison's formula; after every
    `recompute` updates of an arm it is computed anew from A_a, so that rounding cannot add up.
    """

    def __init__(self, arms: int, d: int, *, ridge: float, recompute: int) -> None:
        if arms < 1 or d < 1:
            raise InputError(
                f"a model of {arms} arms for contexts of {d} numbers leaves nothing to learn: "
                "give at least one of each"
            )
        self._recompute = recompute
        self._gram: Floats = np.tile(ridge * np.eye(d), (arms, 1, 1))
        self._inverses: Floats = np.tile(np.eye(d) / ridge, (arms, 1, 1))
        self._sums: Floats = np.zeros((arms, d))
        self._weights: Floats = np.zeros((arms, d))
        self._updates = [0] * arms

    def __repr__(self) -> str:
        arms, d = self._weights.shape
        return f"<LeastSquares of {arms} arms in {d} dimensions>"

    @property
    def weights(self) -> Floats:
        """A row for each arm."""
        return self._weights.copy()

    def scores(self, x: Floats) -> Floats:
        """The reward that each arm's weights predict for the context x."""
        scores: Floats = self._weights.dot(x)
        return scores

    def update(self, arm: int, x: Floats, reward: float) -> None:
        """Learn from a pull: the reward, from 0 to 1, that an arm paid for the context x."""
        gram, inverted, sums = self._gram[arm], self._inverses[arm], self._sums[arm]
        gram += x[:, np.newaxis] * x
        sums += reward * x
        self._updates[arm] += 1
        if self._updates[arm] % self._recompute == 0:
            inverted[:] = self._exact(arm)
        else:
            u = inverted.dot(x)
            # Divided by the root on both sides, so that the inverse stays symmetric to the bit.
            u /= sqrt(1.0 + u.dot(x))
            inverted -= u[:, np.newaxis] * u
        inverted.dot(sums, out=self._weights[arm])

    def _exact(self, arm: int) -> Floats:
        try:
            return inverse(self._gram[arm])
        except PolicyError:
            raise PolicyError(
                "the contexts of an arm cannot be told apart, because ridge is too small beside "
                "them: give a larger ridge, such as 1"
            ) from None

    def snapshot(self) -> LeastSquaresSnapshot:
        """All that is needed to go on."""
        gram, inverses, sums, weights = (
            table.astype("<f8").tobytes()
            for table in (self._gram, self._inverses, self._sums, self._weights)
        )
        return LeastSquaresSnapshot(gram, inverses, sums, weights, tuple(self._updates))

    def restore(self, snapshot: LeastSquaresSnapshot) -> None:
        """Go on exactly where a snapshot of the same run was taken."""
        arms, d = self._weights.shape
        square, flat = (arms, d, d), (arms, d)
        texts = (snapshot.gram, snapshot.inverses, snapshot.sums, snapshot.weights)
        shapes = (square, square, flat, flat)
        if len(snapshot.updates) != arms or [len(text) for text in texts] != [
            8 * int(np.prod(shape)) for shape in shapes
        ]:
            raise JournalError(
                f"a snapshot does not belong to a model of {arms} arms in {d} dimensions: the "
                "journal is damaged or of another run; restore its last copy"
            )
        self._gram, self._inverses, self._sums, self._weights = (
            np.frombuffer(text, dtype="<f8").astype(np.float64).reshape(shape)
            for text, shape in zip(texts, shapes, strict=True)
        )
        self._updates = list(snapshot.updates)

"""The random draws that decide arms: functions of a key and a place, never of an order of calls."""

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.fixed_point import Floats

Words: TypeAlias = NDArray[np.uint64]

TIES = 0
_UNIFORMS = 1


class WordSource(Protocol):
    """Pseudo-random 64-bit words, one for each arm of a party, at a place (label, t, l)."""

    def words(self, label: int, t: int, l: int) -> Words: ...

    def integers(self, label: int, t: int, l: int) -> tuple[int, ...]:
        """The same as Python's integers."""


def to_uniform(words: Words) -> Floats:
    """Map words to (0, 1); never 0 or 1, so that logarithms and quantiles are finite.

    52 bits and a half: with one bit more the largest would round to 1.
    """
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def shuffled(count: int, seed: int) -> NDArray[np.intp]:
    """The numbers below count, in an order that the seed decides.

    Sorted words, because numpy may change what its own permutations are.

    >>> sorted(shuffled(4, seed=7).tolist())
    [0, 1, 2, 3]
    """
    words = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(count)
    return np.argsort(words, kind="stable")


class Draws:
    """A policy's randomness at one (t, l): its own, one value for each arm, and the shared coin.

    `own` belongs to the owner alone; `shared` is the same at all owners and at nobody else.
    """

    __slots__ = ("_l", "_own", "_shared", "_t")

    def __init__(self, own: WordSource, shared: WordSource) -> None:
        self._own = own
        self._shared = shared
        self._t = 0
        self._l = 0

    def at(self, t: int, l: int) -> "Draws":
        """Move to round t, iteration l."""
        self._t = t
        self._l = l
        return self

    @property
    def t(self) -> int:
        """The round that the draws belong to."""
        return self._t

    def ties(self) -> tuple[int, ...]:
        """What decides between arms of equal score: the larger one wins."""
        return self._own.integers(TIES, self._t, self._l)

    def uniform(self, stream: int = 0) -> Floats:
        """A uniform draw from (0, 1) for each arm; streams are independent of each other."""
        return to_uniform(self._own.words(_UNIFORMS + stream, self._t, self._l))

    def gumbel(self, stream: int = 0) -> Floats:
        """A standard Gumbel draw for each arm.

        The argmax of log(w_i) + gumbel_i is arm i with probability w_i / sum(w).
        """
        gumbel: Floats = -np.log(-np.log(self.uniform(stream)))
        return gumbel

    def coin(self, stream: int = 0) -> float:
        """A uniform draw from (0, 1) that is the same at every owner."""
        (word,) = self._shared.integers(stream, self._t, self._l)
        return ((word >> 12) + 0.5) * 2.0**-52

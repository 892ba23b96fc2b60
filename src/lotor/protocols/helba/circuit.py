"""What the server computes, as formulas: on ciphertexts, and on arrays as their plain twin.

Slots are comparisons of pairs of arms (see `PairLayout`); every slot of a repetition holds the same
V and g, and its own pair's part of the contexts. For the arms k and o the value is

    <X, q·(x_k x_k^T - x_o x_o^T)> + <x_k - x_o, X g>

which is the difference of their indices, times det V > 0 where X is the adjugate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias

from lotor.crypto.ckks import (
    Parameters,
    SymmetricMatrix,
    adjugate,
    dot,
    inverse,
    upper_places,
)
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba.bounds import Bounds

Numbers: TypeAlias = tuple[Number, ...]
"""Sums of all rounds, or an estimate, as a form has packed them."""


def plus(sums: Sequence[Number], update: Sequence[Number]) -> Numbers[Number]:
    """With one more round: additions only, so that no level is used."""
    return tuple(a + b for a, b in zip(sums, update, strict=True))


@dataclass(frozen=True, slots=True)
class Sums(Generic[Number]):
    """V and g of all rounds so far, each entry on its own."""

    v: SymmetricMatrix[Number]
    g: tuple[Number, ...]

    @classmethod
    def of(cls, numbers: Sequence[Number], d: int) -> "Sums[Number]":
        """From a list: V's entries i <= j in their order, then g's."""
        places = upper_places(d)
        entries = dict(zip(places, numbers, strict=False))
        return cls(SymmetricMatrix(d, entries), tuple(numbers[len(places) :]))

    def listed(self) -> Numbers[Number]:
        return tuple(self.v[place] for place in upper_places(self.v.size)) + self.g


@dataclass(frozen=True, slots=True)
class Estimate(Generic[Number]):
    """X, which stands for V^-1, and h = X g: what a batch of rounds is decided by."""

    x: SymmetricMatrix[Number]
    h: tuple[Number, ...]

    @classmethod
    def of(cls, numbers: Sequence[Number], d: int) -> "Estimate[Number]":
        sums = Sums.of(numbers, d)
        return cls(sums.v, sums.g)

    def listed(self) -> Numbers[Number]:
        return Sums(self.x, self.h).listed()


def estimate(sums: Sums[Number], bounds: Bounds, start: int) -> Estimate[Number]:
    """Of all rounds before `start` (line 15 of Algorithm 4)."""
    sums = doubled_sums(sums, bounds, start)
    x = adjugate(sums.v) if bounds.by_adjugate else inverse(sums.v, bounds.newton)
    h = [dot([(x[i, j], sums.g[j]) for j in range(x.size)]) for i in range(x.size)]
    return Estimate(x, tuple(h))


def doubled_sums(sums: Sums[Number], bounds: Bounds, start: int) -> Sums[Number]:
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


class Spot(NamedTuple):
    """Where a ciphertext is needed: its level, and its scale."""

    level: int
    scale: float


@dataclass(frozen=True, slots=True)
class Levels:
    """Where in a circuit what is encrypted is needed, and at which scale.

    A product of contexts with X or h then lands on the scale of its level, with nothing aligned.
    """

    inverse: int
    contexts: int
    x_scale: float
    h_scale: float

    @classmethod
    def of(cls, bounds: Bounds, parameters: Parameters) -> "Levels":
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


def _inverse_scale(bounds: Bounds, parameters: Parameters) -> float:
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

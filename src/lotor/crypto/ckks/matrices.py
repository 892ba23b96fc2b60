"""Symmetric matrices whose entries are ciphertexts: products and inverse.

Only entries (i, j) with i <= j are kept. Each is a ciphertext of its own whose slots are
independent problems, or an array: formulas are the same.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from lotor.core.errors import InputError
from lotor.crypto.ckks.formulas import Number, dot, require_levels

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SymmetricMatrix(Generic[Number]):
    """A symmetric matrix; `m[i, j]` is `m[j, i]`."""

    size: int
    entries: Mapping[Place, Number]

    def __post_init__(self) -> None:
        if set(self.entries) != set(upper_places(self.size)):
            raise InputError(f"a symmetric {self.size}x{self.size} matrix has entries i <= j")

    def __getitem__(self, place: Place) -> Number:
        return self.entries[min(place), max(place)]

    def map(self, change: Callable[[Place, Number], Number]) -> "SymmetricMatrix[Number]":
        """The matrix of changed entries."""
        changed = {place: change(place, entry) for place, entry in self.entries.items()}
        return SymmetricMatrix(self.size, changed)

    def times(self, other: "SymmetricMatrix[Number]") -> "SymmetricMatrix[Number]":
        """The product with a matrix that commutes with this one, as polynomials of one matrix do.

        One level, and one relinearisation per entry.
        """
        entries = {
            (i, j): dot([(self[i, k], other[k, j]) for k in range(self.size)])
            for i, j in upper_places(self.size)
        }
        return SymmetricMatrix(self.size, entries)

    def subtracted_from(self, number: float) -> "SymmetricMatrix[Number]":
        """number·I - self."""
        return self.map(lambda place, entry: -entry + number if place[0] == place[1] else -entry)


def upper_places(size: int) -> list[Place]:
    """The places (i, j) with i <= j."""
    return [(i, j) for i in range(size) for j in range(i, size)]


@dataclass(frozen=True, slots=True)
class NewtonPlan:
    """The public numbers of an inverse: N <- N·(a·I - N), X <- X·(a·I - N), X -> 1/N.

    The eigenvalues of N must lie between ratio·`largest` and `largest`: multiply a V with
    eigenvalues in [lambda, c] by largest / c, where ratio = lambda / c. Each step brings the ends
    of the spectrum together (the ratio grows up to fourfold), and a is the sum of both ends.
    """

    ratio: float
    shifts: tuple[float, ...]
    largest: float
    error: float

    @property
    def levels(self) -> int:
        """How many levels the inverse takes."""
        return len(self.shifts) if len(self.shifts) > 1 else 0


def newton_plan(ratio: float, error: float) -> NewtonPlan:
    """The fewest steps after which N·X = I up to a relative error, for eigenvalues this far apart.

    >>> newton_plan(1 / 3937.5, 1e-3).levels
    8
    """
    if not 0 < ratio <= 1 or not 0 < error < 1:
        raise InputError(f"ratio={ratio}, error={error}: both lie between 0 and 1")
    ratios = [ratio]
    while (1 - ratios[-1]) / (1 + ratios[-1]) > error or len(ratios) < 2:
        ratios.append(4 * ratios[-1] / (1 + ratios[-1]) ** 2)
    # The last spectrum is centred at 1; before, each upper end follows from the next.
    upper = [2 / (1 + ratios[-1])]
    for before in reversed(ratios[:-1]):
        upper.append(2 * math.sqrt(upper[-1]) / (1 + before))
    upper.reverse()
    shifts = tuple(u * (1 + r) for u, r in zip(upper[:-1], ratios[:-1], strict=True))
    return NewtonPlan(ratio, shifts, upper[0], (1 - ratios[-1]) / (1 + ratios[-1]))


def inverse(n: SymmetricMatrix[Number], plan: NewtonPlan) -> SymmetricMatrix[Number]:
    """1/n up to the plan's relative error, in `plan.levels` levels."""
    for entry in n.entries.values():
        require_levels(entry, plan.levels)
    result: SymmetricMatrix[Number] | None = None
    for step, shift in enumerate(plan.shifts, start=1):
        factor = n.subtracted_from(shift)
        result = factor if result is None else result.times(factor)
        if step < len(plan.shifts):
            n = n.times(factor)
    if result is None:
        raise InputError("a plan without steps inverts nothing: make one with newton_plan")
    return result

"""What the user puts into slots for the paper's index."""

from dataclasses import dataclass

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import SignPolynomial, upper_places
from lotor.protocols.helba.mirrored import MirroredPairs
from lotor.protocols.helba.packing import Slots
from lotor.protocols.helba.root_bounds import RootBounds


@dataclass(frozen=True)
class RootPacking(Slots):
    """Slots are arms and, in the second half, their opponents."""

    bounds: RootBounds
    pairs: MirroredPairs
    polynomial: SignPolynomial
    root_error: float
    """Of the root on [0, 1]."""

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
        """What a difference of indices is multiplied by before it is compared."""
        return self.polynomial.factor / self.difference(t, start)

    def read(self, slots: Floats, repetitions: int) -> Floats:
        return self.pairs.read(slots, repetitions)

    def everywhere(self, values: Floats) -> Floats:
        return self.pairs.everywhere(values)

    def first_estimate(self) -> list[float]:
        """X and h before the first round, public."""
        d = self.bounds.d
        return [1.0 if i == j else 0.0 for i, j in upper_places(d)] + [0.0] * d

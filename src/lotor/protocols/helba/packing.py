"""What the user puts into slots before it encrypts, and what it reads from them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import upper_places
from lotor.protocols.helba.bounds import Bounds
from lotor.protocols.helba.comparing import Comparing
from lotor.protocols.helba.growth import Growth


class Slots(ABC):
    """For one or several repetitions, which are the first index of every array."""

    bounds: Growth

    @abstractmethod
    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """All of a round, of shape (repetitions, arms, d)."""

    @abstractmethod
    def read(self, slots: Floats, repetitions: int) -> Floats:
        """b of each arm, from what was decrypted."""

    @abstractmethod
    def everywhere(self, values: Floats) -> Floats:
        """A number for each repetition, in all slots of that at least."""

    def update(self, x: Floats, reward: Floats) -> list[Floats]:
        """Of the pulled arms' contexts (repetitions, d) and rewards: x x^T, then r x."""
        v, g = self.bounds.v_factor, self.bounds.g_factor
        squares = [x[:, i] * x[:, j] * v for i, j in upper_places(self.bounds.d)]
        return [self.everywhere(values) for values in (*squares, *(x * reward[:, None] * g).T)]

    def ridge(self) -> Sequence[float | Floats]:
        """V and g before the first round, public."""
        d, diagonal = self.bounds.d, self.bounds.policy.ridge * self.bounds.v_factor
        return [diagonal if i == j else 0.0 for i, j in upper_places(d)] + [0.0] * d


@dataclass(frozen=True)
class Packing(Slots):
    """For the index without a root: slots are pairs of arms."""

    bounds: Bounds
    comparing: Comparing

    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """For each pair q·(x_k x_k^T - x_o x_o^T), then x_k - x_o."""
        quadratic, linear = self.bounds.factors(t, start)
        factor = self.comparing.polynomial.factor
        place = self.comparing.layout.place
        slots = []
        for i, j in upper_places(self.bounds.d):
            products = x[:, :, i] * x[:, :, j] * (quadratic * factor * (1 if i == j else 2))
            slots.append(place(products[:, :, None] - products[:, None, :]))
        for i in range(self.bounds.d):
            scaled = x[:, :, i] * (linear * factor)
            slots.append(place(scaled[:, :, None] - scaled[:, None, :]))
        return slots

    def read(self, slots: Floats, repetitions: int) -> Floats:
        """From the mean of all slots that hold the same, by whose number noise was chosen."""
        layout = self.comparing.layout
        return layout.read(slots.reshape(-1, layout.columns).mean(axis=0), repetitions)

    def everywhere(self, values: Floats) -> Floats:
        if len(values) == 1:
            # One number for all slots is encoded sixty times as fast. In those where nothing is
            # compared it does no harm, since an estimate never leaves the server.
            return np.asarray(values[0])
        layout = self.comparing.layout
        columns = np.zeros(layout.columns)
        columns[: len(values) * layout.arms] = np.repeat(values, layout.arms)
        return np.tile(columns, layout.opponents)

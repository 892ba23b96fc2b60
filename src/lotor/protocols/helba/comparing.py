"""How arms are compared: the polynomial that stands for a sign, and where the pairs are."""

from dataclasses import dataclass
from typing import Final

from lotor.crypto.ckks import (
    LARGEST_MODULUS,
    PairLayout,
    SignPolynomial,
    levels_of_argmax,
    sign_polynomial,
)

MOST_SLOTS: Final = max(LARGEST_MODULUS) // 2
"""Of the largest ring, which every secure run takes."""


@dataclass(frozen=True, slots=True)
class Comparing:
    """All pairs of `arms` arms at once, in `slots` slots."""

    arms: int
    stages: int
    slots: int

    @property
    def layout(self) -> PairLayout:
        """One period over all slots."""
        return PairLayout(self.arms, self.slots)

    @property
    def polynomial(self) -> SignPolynomial:
        """Each stage of degree 7 sees differences that are about 2^2.5 times smaller."""
        return sign_polynomial((7,) * self.stages, 2.0 ** (1 - 2.5 * self.stages))

    @property
    def levels(self) -> int:
        return levels_of_argmax(self.layout, self.polynomial)

    @property
    def rotations(self) -> list[int]:
        return self.layout.rotations

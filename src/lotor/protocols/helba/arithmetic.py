"""What a simulation computes with: encrypted or in clear, by the same loop."""

from collections.abc import Sequence
from typing import Protocol

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba.circuit import Spot


class Arithmetic(Protocol[Number]):
    """How what is in slots becomes numbers of a circuit, and is read again."""

    def first(self, value: float | Floats, level: int = 0) -> Number:
        """A public number in all slots, or one in each."""
        ...

    def contexts(self, slots: Sequence[Floats]) -> list[Number]:
        """A round's contexts."""
        ...

    def update(self, slots: Sequence[Floats]) -> list[Number]:
        """What a round adds to V and g."""
        ...

    def read(self, answer: Number) -> Floats:
        """What the user sees of an answer."""
        ...

    def refreshed(self, numbers: Sequence[Number], spots: Sequence[Spot]) -> list[Number]:
        """An estimate of numbers up to 1, after the user encrypted it again."""
        ...

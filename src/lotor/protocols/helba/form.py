"""The forms of Algorithm 4: all in which they differ, behind one interface."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Final

from lotor.crypto.ckks import Parameters, SignPolynomial
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba.circuit import Numbers, Spot
from lotor.protocols.helba.counts import Counts
from lotor.protocols.helba.growth import Growth
from lotor.protocols.helba.packing import Slots
from lotor.protocols.helba.terms import Terms

# N/scale is four standard deviations of one rounding, which one slot in some thousand passes; five
# times as much is passed by none.
ROUNDING: Final = 5


class Form(ABC):
    """How an index is computed under encryption, with these terms and this parameter set."""

    def __init__(self, terms: Terms, parameters: Parameters) -> None:
        self.terms = terms
        self.parameters = parameters

    @classmethod
    @abstractmethod
    def levels_for(cls, terms: Terms) -> int:
        """How many levels these terms need."""

    @property
    @abstractmethod
    def bounds(self) -> Growth:
        """By which encrypted numbers are scaled."""

    @property
    @abstractmethod
    def packing(self) -> Slots:
        """What is in which slot."""

    @property
    @abstractmethod
    def polynomial(self) -> SignPolynomial:
        """What stands for a sign."""

    @property
    @abstractmethod
    def rotations(self) -> list[int]:
        """For which the server needs keys."""

    @property
    @abstractmethod
    def spots(self) -> list[Spot]:
        """Where each ciphertext of a round's contexts is needed."""

    @property
    def copies(self) -> int:
        """In how many slots a user reads the same of an answer."""
        return 1

    @property
    def noise(self) -> float:
        """The deviation of noise in a slot: the mean of all copies has the terms' own."""
        return self.terms.noise * sqrt(self.copies)

    @property
    @abstractmethod
    def repetitions(self) -> int:
        """How many independent problems fit into the slots."""

    @abstractmethod
    def estimate(self, sums: Sequence[Number], start: int) -> Numbers[Number]:
        """Of all rounds before `start` (line 15 of Algorithm 4)."""

    @abstractmethod
    def differences(
        self, of: Sequence[Number], contexts: Sequence[Number], t: int, start: int
    ) -> Number:
        """What is compared in round t (lines 6 and 7), with the polynomial's factor on it."""

    @abstractmethod
    def winners(self, differences: Number) -> Number:
        """b, near 1 for the arm of the largest index and near 0 for the others (lines 8 to 10)."""

    def choose(
        self, of: Sequence[Number], contexts: Sequence[Number], t: int, start: int
    ) -> Number:
        """b of round t, in the batch from `start`."""
        return self.winners(self.differences(of, contexts, t, start))

    @abstractmethod
    def arithmetic_error(self, t: int, start: int) -> float:
        """How far computed differences are from exact ones at most, beside the largest."""

    @abstractmethod
    def gap(self, value: float, t: int, start: int, log_determinant: float | None = None) -> float:
        """The difference of two indices that is compared as `value`, at this ln det V."""

    @abstractmethod
    def per_round(self) -> Counts:
        """What a choice takes."""

    @abstractmethod
    def per_update(self, start: int) -> Counts:
        """What a new estimate before this round takes."""

    def refreshed(self, start: int) -> list[Spot]:  # noqa: ARG002
        """Where the user encrypts what of a new estimate before this round again."""
        return []

    def per_switch(self) -> Counts:
        """What asking for the end of a batch takes."""
        return Counter()

    def switch_resolution(self) -> float | None:
        """How far the right side of condition (8) must be from C to be decided right, if asked."""
        return None

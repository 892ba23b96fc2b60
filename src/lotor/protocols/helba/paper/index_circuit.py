"""The interface of all index circuits: how an index is computed under encryption.

There are three: `PlaneCircuit` and `QuadraticCircuit` for the index without a root, and
`RootCircuit` for the paper's. A circuit is stated once, as formulas: on ciphertexts the server
computes it, and on arrays it is the plain twin that tests and benchmarks compare it with.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, Generic, NamedTuple, TypeAlias

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import (
    LARGEST_MODULUS,
    PairLayout,
    Parameters,
    SignPolynomial,
    SymmetricMatrix,
    levels_of_argmax,
    sign_polynomial,
    upper_places,
)
from lotor.crypto.ckks.formulas import Number
from lotor.protocols.helba.paper.bounds import PublicBounds
from lotor.protocols.helba.paper.counts import Counts
from lotor.protocols.helba.terms import HelbaTerms

# N/scale is four standard deviations of one rounding, which one slot in some thousand exceeds; no
# slot exceeds five times as much.
ROUNDING: Final = 5

SPECIAL_BITS: Final = 60
LEAST_SCALE_BITS, MOST_SCALE_BITS = 38, 50
_LARGEST_DEGREE: Final = max(LARGEST_MODULUS)
MOST_SLOTS: Final = _LARGEST_DEGREE // 2
"""Of the largest ring, which every secure run takes."""

Numbers: TypeAlias = tuple[Number, ...]
"""Sums of all rounds, or an estimate, as a circuit has packed them."""


def scale_bits_for(levels: int, security: int) -> int:
    """The size of the largest primes with which so many levels fit; 0 if none do."""
    if security not in LARGEST_MODULUS[_LARGEST_DEGREE]:
        raise InputError(f"security={security}: choose 128, 192 or 256")
    room = LARGEST_MODULUS[_LARGEST_DEGREE][security] - SPECIAL_BITS
    for bits in range(MOST_SCALE_BITS, 0, -1):
        if min(bits + 12, SPECIAL_BITS) + levels * bits <= room:
            return bits
    return 0


def plus(sums: Sequence[Number], update: Sequence[Number]) -> Numbers[Number]:
    """The sums with one more round: additions only, so that no level is used."""
    return tuple(a + b for a, b in zip(sums, update, strict=True))


class Spot(NamedTuple):
    """Where a circuit needs a ciphertext: its level, and its scale."""

    level: int
    scale: float


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


@dataclass(frozen=True, slots=True)
class Estimate(Generic[Number]):
    """X, which stands for V^-1, and h = X g: a batch of rounds is decided by them."""

    x: SymmetricMatrix[Number]
    h: tuple[Number, ...]

    @classmethod
    def of(cls, numbers: Sequence[Number], d: int) -> "Estimate[Number]":
        """From a list in the same order as that of `Sums`."""
        sums = Sums.of(numbers, d)
        return cls(sums.v, sums.g)

    def listed(self) -> Numbers[Number]:
        return tuple(self.x[place] for place in upper_places(self.x.size)) + self.h


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Compares all pairs of `arms` arms at once, in `slots` slots."""

    arms: int
    stages: int
    slots: int

    @property
    def layout(self) -> PairLayout:
        """One period over all slots."""
        return PairLayout(self.arms, self.slots)

    @property
    def polynomial(self) -> SignPolynomial:
        """Stands for a sign; each stage of degree 7 reaches differences 2^2.5 times as small."""
        return sign_polynomial((7,) * self.stages, 2.0 ** (1 - 2.5 * self.stages))

    @property
    def levels(self) -> int:
        return levels_of_argmax(self.layout, self.polynomial)

    @property
    def rotations(self) -> list[int]:
        return self.layout.rotations


class SlotPacking(ABC):
    """What the user puts into slots before it encrypts, and what it reads from them.

    Slots hold one or several repetitions of a run, which are the first index of every array.
    """

    bounds: PublicBounds

    @abstractmethod
    def contexts(self, x: Floats, t: int, start: int) -> list[Floats]:
        """All contexts of a round, of shape (repetitions, arms, d)."""

    @abstractmethod
    def read(self, slots: Floats, repetitions: int) -> Floats:
        """b of each arm, from decrypted slots."""

    @abstractmethod
    def everywhere(self, values: Floats) -> Floats:
        """A number for each repetition, in all slots of that repetition at least."""

    def update(self, x: Floats, reward: Floats) -> list[Floats]:
        """Of the pulled arms' contexts (repetitions, d) and rewards: x x^T, then r x."""
        v, g = self.bounds.v_factor, self.bounds.g_factor
        squares = [x[:, i] * x[:, j] * v for i, j in upper_places(self.bounds.d)]
        return [self.everywhere(values) for values in (*squares, *(x * reward[:, None] * g).T)]

    def ridge(self) -> Sequence[float | Floats]:
        """V and g before the first round, public."""
        d, diagonal = self.bounds.d, self.bounds.policy.ridge * self.bounds.v_factor
        return [diagonal if i == j else 0.0 for i, j in upper_places(d)] + [0.0] * d


class IndexCircuit(ABC):
    """How an index is computed under encryption, with these terms and this parameter set."""

    def __init__(self, terms: HelbaTerms, parameters: Parameters) -> None:
        self.terms = terms
        self.parameters = parameters

    @classmethod
    @abstractmethod
    def levels_for(cls, terms: HelbaTerms) -> int:
        """How many levels these terms need."""

    @property
    @abstractmethod
    def bounds(self) -> PublicBounds:
        """The public bounds by which encrypted numbers are scaled."""

    @property
    @abstractmethod
    def packing(self) -> SlotPacking:
        """What is in which slot."""

    @property
    @abstractmethod
    def polynomial(self) -> SignPolynomial:
        """The polynomial that stands for a sign."""

    @property
    @abstractmethod
    def rotations(self) -> list[int]:
        """The rotations for which the server needs keys."""

    @property
    @abstractmethod
    def spots(self) -> list[Spot]:
        """Where each ciphertext of a round's contexts is needed."""

    @property
    @abstractmethod
    def repetitions(self) -> int:
        """How many independent problems fit into the slots."""

    @property
    def copies(self) -> int:
        """In how many slots of an answer a user reads the same."""
        return 1

    @property
    def noise(self) -> float:
        """The deviation of noise in a slot: the mean of all copies has that of the terms."""
        return self.terms.noise * sqrt(self.copies)

    @abstractmethod
    def estimate(self, sums: Sequence[Number], start: int) -> Numbers[Number]:
        """The estimate from all rounds before `start` (line 15 of Algorithm 4)."""

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
        """How far computed differences are from exact ones at most, as part of the largest."""

    @abstractmethod
    def gap(self, value: float, t: int, start: int, log_determinant: float | None = None) -> float:
        """The difference of two indices that is compared as `value`, at this ln det V."""

    @abstractmethod
    def per_round(self) -> Counts:
        """The operations of a choice."""

    @abstractmethod
    def per_update(self, start: int) -> Counts:
        """The operations of a new estimate before this round."""

    def per_switch(self) -> Counts:
        """The operations of asking whether a batch ends."""
        return Counter()

    def refreshed(self, start: int) -> list[Spot]:  # noqa: ARG002
        """Where the user encrypts the entries of a new estimate before this round again."""
        return []

    def switch_resolution(self) -> float | None:
        """How far the right side of condition (8) must be from C to be decided right, if asked."""
        return None

"""What follows from the terms of a run: numbers, circuits, sizes, and how safe they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, floor, log2
from typing import Final, NamedTuple, Self

from msgspec.structs import replace

from lotor.core.errors import InputError, VersionError
from lotor.crypto.garbling import (
    BooleanCircuit,
    Gates,
    ResidueArgmaxCircuit,
    RootArgmaxCircuit,
    Wires,
    security_bits,
)
from lotor.crypto.ot import column_bytes, product_rows, product_words
from lotor.crypto.residues import RESIDUE_BITS, WORD_DISTANCE, Modulus
from lotor.policies.optimistic import BatchedOFUL, IndexWindows, WholeIndex
from lotor.protocols.garbled.schedule import BatchSchedule, BatchSize, batch_size
from lotor.protocols.helba.shared.terms import HelbaSharedTerms

WORD_BYTES: Final = 8
MOST_ROUND_BYTES: Final = 24 << 20
"""What one round's products may take, one way: a connection holds 64 MiB at most."""
MOST_AHEAD_BYTES: Final = 62 << 20
"""What may wait at a party, circuits included: it refuses a peer that is 64 MiB ahead of it."""
MOST_DISTANCE: Final = -35
"""log2 of how far views may be from perfect ones, over the whole run."""

# A round has up to three batches of products, which come in this order.
_KINDS = 3
_ESTIMATE, _LINEAR, _SQUARED = range(_KINDS)


class ProductCall(NamedTuple):
    """Products of the chooser's numbers, (groups, numbers), with the sender's vectors."""

    number: int
    modulus: Modulus
    shape: tuple[int, int]
    length: int

    @property
    def column_bytes(self) -> int:
        return column_bytes(product_rows(self.modulus, self.shape))

    @property
    def words(self) -> int:
        return product_words(self.modulus, self.shape, self.length)

    @property
    def word_bytes(self) -> int:
        return WORD_BYTES * self.words


def column_total(calls: Sequence[ProductCall]) -> int:
    """How long the chooser's message of several calls is."""
    return sum(call.column_bytes for call in calls)


def word_total(calls: Sequence[ProductCall]) -> int:
    """How long the sender's message of several calls is."""
    return sum(call.word_bytes for call in calls)


class RootIndexCircuit(BooleanCircuit):
    """`RootArgmaxCircuit` with both of the evaluator's inputs before those of the garbler."""

    __slots__ = ("_root",)

    def __init__(self, root: RootArgmaxCircuit) -> None:
        self._root = root
        a, _, _, c, _, _ = root.inputs
        super().__init__(self._reordered, a, c, a, a, c, c)

    def _reordered(self, gates: Gates, *inputs: Wires) -> Wires:
        x_a, x_c, y_a, less_a, y_c, less_c = inputs
        return self._root.run(gates, x_a, y_a, less_a, x_c, y_c, less_c)


@dataclass(frozen=True)
class HelbaSharedSetting:
    """All that parties derive from the terms."""

    terms: HelbaSharedTerms

    @classmethod
    def ordered(cls, terms: HelbaSharedTerms) -> Self:
        """Fill in what follows from the rest; refuses an impossible run before any key is made."""
        terms.check()
        setting = cls(terms)
        size = batch_size(setting.circuit, setting.round_bytes)
        primes = setting.modulus.count
        full = replace(terms, batch=size.circuits, gates=size.gates, primes=primes)
        return cls.of(full)

    @classmethod
    def of(cls, terms: HelbaSharedTerms) -> Self:
        """The setting of terms that somebody ordered."""
        setting = cls(terms)
        if terms.primes != setting.modulus.count:
            raise VersionError(
                f"this run shares numbers modulo {terms.primes} primes, and this version of lotor "
                f"modulo {setting.modulus.count}: finish the run with the version that began it"
            )
        setting.schedule  # noqa: B018  refuses batches of another version
        setting._check_sizes()
        setting._check_distance()
        return setting

    @cached_property
    def policy(self) -> BatchedOFUL:
        return self.terms.learner

    @cached_property
    def index(self) -> WholeIndex:
        return WholeIndex(self.policy, self.terms.grid, self.terms.d)

    @cached_property
    def windows(self) -> IndexWindows:
        return IndexWindows(self.index, self.terms.scale, self.terms.budget)

    @property
    def score_bits(self) -> int:
        """Of scores (of their linear parts, with the root), which an offset makes non-negative."""
        return (self.windows.score_values - 1).bit_length()

    @property
    def squared_bits(self) -> int:
        """Of what is under the root."""
        return (self.windows.squared_values - 1).bit_length()

    @cached_property
    def linear_modulus(self) -> Modulus:
        """Scores, or their linear parts, are shared modulo this; it divides `modulus`."""
        return Modulus.of_bits(self.score_bits)

    @cached_property
    def modulus(self) -> Modulus:
        """Sums and, with the root, what is under it are shared modulo this."""
        if not self.index.rooted:
            return self.linear_modulus
        return Modulus.of_bits(max(self.score_bits, self.squared_bits))

    @cached_property
    def circuit(self) -> BooleanCircuit:
        rooted = (self.squared_bits, self.index.drop) if self.index.rooted else None
        return _circuit(self.terms.arms, self.linear_modulus, self.modulus, self.score_bits, rooted)

    @cached_property
    def schedule(self) -> BatchSchedule:
        """One circuit in each round."""
        size = BatchSize(self.terms.batch, self.terms.gates)
        return BatchSchedule(
            self.circuit,
            self.terms.budget,
            size,
            chosen=len(self.score_moduli),
            bytes_each=self.round_bytes,
        )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The entries of a symmetric matrix that are told."""
        d = self.terms.d
        return [(a, b) for a in range(d) for b in range(a, d)]

    @property
    def sums(self) -> int:
        """How many numbers the server sums: those of V, of g, and a count."""
        d = self.terms.d
        return d * (d + 1) // 2 + d + 1

    @property
    def score_moduli(self) -> list[Modulus]:
        """Of scores; with the root, of their linear parts and of what is under it."""
        return [self.linear_modulus, self.modulus] if self.index.rooted else [self.linear_modulus]

    @property
    def share_bytes(self) -> int:
        """How long one party's shares of all scores of a round are."""
        return WORD_BYTES * self.terms.arms * sum(one.count for one in self.score_moduli)

    @property
    def round_bytes(self) -> int:
        """What the products of a round take, the way that takes more, with a new estimate."""
        calls = [*self.renewal_products(1), *self.score_products(1)]
        return max(column_total(calls), word_total(calls))

    @property
    def ahead_bytes(self) -> int:
        """What may wait at a party that was restarted and waits for a third one.

        That is all of a batch, with the circuits and the first columns of the next one.
        """
        schedule, tables = self.schedule, self.circuit.table_bytes
        calls = [*self.renewal_products(1), *self.score_products(1)]
        each = tables + schedule.label_bytes + self.round_bytes
        return schedule.size * each + column_total(calls)

    def starts(self, t: int, start: int) -> bool:
        """Whether a batch starts with round t, if the one before began with `start`."""
        return t == 1 or self.policy.due(t, start)

    def estimate_products(self, t: int) -> ProductCall:
        """Pads of V times R and s, where a batch starts with round t."""
        d = self.terms.d
        return ProductCall(_KINDS * t + _ESTIMATE, self.modulus, (d + 1, d), d)

    def renewal_products(self, t: int) -> list[ProductCall]:
        """All products of a new estimate."""
        return [self.estimate_products(t)]

    def score_products(self, t: int) -> list[ProductCall]:
        """Contexts times R and s over det R; with the root also R and 1 over its square."""
        d, k = self.terms.d, self.terms.arms
        linear = ProductCall(_KINDS * t + _LINEAR, self.linear_modulus, (1, d * d + d), k)
        if not self.index.rooted:
            return [linear]
        return [linear, ProductCall(_KINDS * t + _SQUARED, self.modulus, (1, d * d + 1), k)]

    @cached_property
    def batches(self) -> int:
        """How often an estimate is renewed in a run, the first included."""
        terms, policy = self.terms, self.policy
        if policy.eta == 0:
            return terms.budget
        eta, count, start = Fraction(repr(policy.eta)), 1, 1
        while True:
            # Batches of one length follow each other until eta·start is above it.
            length = max(1, ceil(eta * start))
            last = min(floor(length / eta), terms.budget)
            batches = max(1, (last - start) // length + 1)
            if start + batches * length > terms.budget:
                return count + (terms.budget - start) // length
            count, start = count + batches, start + batches * length

    @property
    def garbling_security(self) -> float:
        return self.schedule.security_bits

    @property
    def product_security(self) -> float:
        """Each batch of products has a hash key of its own."""
        calls = [*self.renewal_products(1), *self.score_products(1)]
        return min(security_bits(call.words) for call in calls)

    @property
    def words(self) -> int:
        """How many words mask numbers in the whole run."""
        scores = sum(call.words for call in self.score_products(1))
        renewal = sum(call.words for call in self.renewal_products(1))
        return self.terms.budget * scores + self.batches * renewal

    @property
    def word_distance(self) -> float:
        """log2 of how far all shares are from uniform ones."""
        return log2(self.words) + WORD_DISTANCE

    @property
    def stop_chance(self) -> float:
        """log2 of the chance that a prime divides det V where a batch starts: the run then stops.

        A prime divides a random determinant with chance 1/p + 1/p^2 or less.
        """
        return log2(self.batches * self.modulus.count) + 1e-6 - (RESIDUE_BITS - 2.0**-40)

    @property
    def distance(self) -> float:
        """log2 of both together."""
        return log2(2.0**self.word_distance + 2.0**self.stop_chance)

    def _check_distance(self) -> None:
        if self.distance > MOST_DISTANCE:
            raise InputError(
                f"over {self.terms.budget} rounds with {self.batches} new estimates a prime may "
                f"divide a determinant with a chance of 2^{self.distance:.0f}, and "
                f"2^{MOST_DISTANCE} is the most: take a smaller budget or a larger eta"
            )

    def _check_sizes(self) -> None:
        if self.round_bytes > MOST_ROUND_BYTES:
            raise InputError(
                f"one round's products of d = {self.terms.d} and {self.terms.arms} arms take "
                f"{self.round_bytes >> 20} MiB, and {MOST_ROUND_BYTES >> 20} MiB is the most: give "
                "shorter contexts or fewer arms, or a coarser grid"
            )
        if self.ahead_bytes > MOST_AHEAD_BYTES:
            raise InputError(
                f"circuits and products for {self.terms.arms} arms take {self.ahead_bytes >> 20} "
                f"MiB ahead of a round, and {MOST_AHEAD_BYTES >> 20} MiB is the most: give fewer "
                "arms, or a coarser grid"
            )


@cache
def _circuit(
    arms: int, linear: Modulus, squared: Modulus, bits: int, rooted: tuple[int, int] | None
) -> BooleanCircuit:
    if rooted is None:
        return ResidueArgmaxCircuit(arms, int(linear.product), bits)
    moduli = int(linear.product), int(squared.product)
    width, drop = rooted
    root = RootArgmaxCircuit(arms, *moduli, a_width=bits, c_width=width, drop=drop)
    return RootIndexCircuit(root)

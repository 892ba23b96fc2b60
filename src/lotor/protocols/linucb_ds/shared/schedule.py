"""The rounds of a run: their circuits, and their places in batches of products."""

from functools import cache
from typing import Final, NamedTuple

from lotor.core.errors import InputError
from lotor.crypto.bfv import SLOTS, statistical_distance
from lotor.crypto.garbling import SumArgmaxCircuit
from lotor.crypto.residues import Modulus
from lotor.protocols.garbled.schedule import BatchSchedule, BatchSize, batch_size
from lotor.protocols.linucb_ds.shared.wire import row_bytes, share_bytes

SCORE_BITS: Final = 59
"""Scores are shared modulo 2^59, which is BFV's plaintext modulus."""

TOTAL_MODULUS = Modulus(3)
"""The total is shared modulo the product of these primes: 183 bits, and no total has 160."""

SUM_EPOCH = 1
"""Rounds are epoch 0 of the transfers' streams; the total's product has this one to itself."""

MOST_ARMS = 4000
MOST_DIMENSIONS = 512
"""P keeps half a megabyte for each coordinate of theta."""
MOST_ROW_BYTES = 8 << 20
COORDINATES_TOGETHER = 16
"""So many encrypted coordinates, 262 kB each, are under way at once."""
LARGEST_DISTANCE = -35.0
"""log2 of how far a whole run may be from one that tells Comp nothing."""


class ProductPlace(NamedTuple):
    """Where the products of a round are: in which batch, and in which of its slots."""

    batch: int
    slots: slice


@cache
def argmax_of(k: int) -> SumArgmaxCircuit:
    """The circuit of a round: adds both shares of each score, and finds the largest."""
    return SumArgmaxCircuit(k, SCORE_BITS)


def size_of(k: int, d: int) -> BatchSize:
    """How many rounds are garbled together; refuses what the form's messages have no room for."""
    if k > MOST_ARMS or d > MOST_DIMENSIONS or row_bytes(k, d) > MOST_ROW_BYTES:
        raise InputError(
            f"{k} arms in {d} dimensions do not fit the messages of this form: give at most "
            f"{MOST_ARMS} arms, {MOST_DIMENSIONS} dimensions and {MOST_ROW_BYTES // 8:,} "
            "coordinates of all arms together, or use form='dealt'"
        )
    return batch_size(argmax_of(k), row_bytes(k, d) + share_bytes(k))


class RoundSchedule(BatchSchedule):
    """Turn n is the choice after n + 1 pulls. A batch of products serves whole batches of circuits.

    Refuses a run that is longer than flooding hides theta's noise for.
    """

    def __init__(self, k: int, d: int, places: int, size: BatchSize) -> None:
        each = row_bytes(k, d) + share_bytes(k)
        super().__init__(argmax_of(k), places - 1, size, bytes_each=each)
        self.k, self.d = k, d
        self.circuits_each = max(1, SLOTS // k // self.size)
        """How many batches of circuits a batch of products serves."""
        self.distance = statistical_distance(d, self.products)
        if self.distance > LARGEST_DISTANCE:
            raise InputError(
                f"{places} rounds of {k} arms in {d} dimensions are a distance of 2^"
                f"{self.distance:.0f} from telling Comp nothing, and 2^{LARGEST_DISTANCE:.0f} is "
                f"the most: order at most {self._longest():,} rounds, or use form='dealt'"
            )

    @property
    def products(self) -> int:
        """How many batches of products the run takes."""
        return -(-self.count // self.circuits_each)

    @property
    def rounds_each(self) -> int:
        """How many rounds a batch of products serves."""
        return self.circuits_each * self.size

    def begins_products(self, number: int) -> bool:
        """Whether a batch of circuits is the first one that a batch of products serves."""
        return number % self.circuits_each == 0

    def product_batch(self, number: int) -> int:
        """The batch of products that serves a batch of circuits."""
        return number // self.circuits_each

    def product_place(self, turn: int) -> ProductPlace:
        batch, within = divmod(turn, self.rounds_each)
        return ProductPlace(batch, slice(within * self.k, (within + 1) * self.k))

    def _longest(self) -> int:
        """The distance grows as the number of batches of products."""
        batches = int(2.0 ** (LARGEST_DISTANCE - statistical_distance(self.d, 1)))
        return batches * self.circuits_each * self.size + 1

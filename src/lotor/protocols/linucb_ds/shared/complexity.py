"""What a run of the shared form takes, before it begins: gates, bytes, security."""

from dataclasses import dataclass
from functools import cached_property

from lotor.crypto.bfv import MESSAGE_BYTES
from lotor.crypto.garbling import security_bits
from lotor.crypto.ot import TRANSFERS, column_bytes, product_rows, product_words
from lotor.crypto.residues import WORD_DISTANCE
from lotor.protocols.garbled.reading import decoding_bytes
from lotor.protocols.linucb_ds.shared.schedule import TOTAL_MODULUS, RoundSchedule, size_of
from lotor.protocols.linucb_ds.shared.wire import WORD_BYTES, row_bytes, share_bytes


@dataclass(frozen=True)
class SharedLinearCosts:
    """Of `budget` pulls of k arms in d dimensions."""

    k: int
    d: int
    budget: int

    @cached_property
    def schedule(self) -> RoundSchedule:
        return RoundSchedule(self.k, self.d, self.budget, size_of(self.k, self.d))

    @property
    def security_bits(self) -> float:
        """Of labels and of the total's product: each batch has a hash key of its own."""
        words = product_words(TOTAL_MODULUS, (1, self.d), 1)
        return min(self.schedule.security_bits, security_bits(words))

    @property
    def distance(self) -> float:
        """log2 of how far the run is, at most, from one that tells nothing."""
        words = product_words(TOTAL_MODULUS, (1, self.d), 1)
        return max(self.schedule.distance, WORD_DISTANCE + words.bit_length()) + 1

    @property
    def ahead_bytes(self) -> int:
        """Content ahead of one round of whole batches: products, choices, tables."""
        schedule, batch = self.schedule, self.schedule.batch(0)
        rounds = schedule.circuits_each * schedule.size
        columns = schedule.column_bytes(batch) // batch.length
        decoding = sum(decoding_bytes(schedule, batch).values()) // batch.length
        return MESSAGE_BYTES // rounds + columns + schedule.circuit.table_bytes + decoding

    @property
    def round_bytes(self) -> int:
        """Content within a round: rows and shares there, labels back."""
        there = row_bytes(self.k, self.d) + share_bytes(self.k)
        return there + self.schedule.label_bytes

    @property
    def total_bytes(self) -> int:
        """Content of the product that the total takes."""
        rows = product_rows(TOTAL_MODULUS, (1, self.d))
        return column_bytes(rows) + WORD_BYTES * rows

    def operations(self) -> dict[str, int]:
        """Exact counts, as the parties count them."""
        gates = self.schedule.turns * self.schedule.circuit.ands
        return {
            "garbled_and_gates": gates,
            "evaluated_and_gates": gates,
            "base_transfers": TRANSFERS,
            "bfv_messages": self.schedule.products,
        }

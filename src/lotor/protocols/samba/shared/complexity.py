"""What a run of the shared form takes: gates, bytes and bits of security, before it begins."""

from dataclasses import dataclass

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import security_bits
from lotor.crypto.ot import TRANSFERS, column_bytes
from lotor.protocols.samba.shared.schedule import argmax_of, size_of
from lotor.protocols.samba.shared.wire import (
    COMP_BITS,
    CONTROLLER_BITS,
    INPUT_BYTES,
    SCORE_BYTES,
)


@dataclass(frozen=True, slots=True)
class SharedCosts:
    """Of `turns` argmaxes of k arms, that for the customer included."""

    k: int
    turns: int

    @property
    def ands(self) -> int:
        """AND gates of one argmax."""
        return argmax_of(self.k).ands

    @property
    def batch(self) -> int:
        return size_of(self.k).circuits

    @property
    def security_bits(self) -> float:
        """Of labels: each batch has a hash key of its own."""
        return security_bits(self.batch * self.ands)

    @property
    def ahead_bytes(self) -> int:
        """Content between the servers ahead of one turn of a whole batch: columns and tables."""
        columns = column_bytes(self.batch * self.k * SCORE_BITS) // self.batch
        return columns + argmax_of(self.k).table_bytes

    @property
    def turn_bytes(self) -> int:
        """Content within one turn: scores, labels, and results twice."""
        results = COMP_BITS.size + CONTROLLER_BITS.size + COMP_BITS.size
        return self.k * (SCORE_BYTES + INPUT_BYTES + results)

    def operations(self) -> dict[str, int]:
        """Exact counts, as the parties count them."""
        gates = self.turns * self.ands
        return {
            "garbled_and_gates": gates,
            "evaluated_and_gates": gates,
            "base_transfers": TRANSFERS,
        }

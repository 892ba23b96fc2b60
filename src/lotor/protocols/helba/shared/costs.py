"""What a run of the shared form takes: operations, bytes and round trips, before it begins."""

from collections.abc import Mapping
from dataclasses import dataclass

from lotor.crypto.ot import TRANSFERS
from lotor.protocols.garbled.reading import decoding_bytes
from lotor.protocols.helba.shared.setting import (
    WORD_BYTES,
    HelbaSharedSetting,
    column_total,
    word_total,
)


@dataclass(frozen=True, slots=True)
class HelbaSharedCosts:
    """Content of messages, without their frames; all of it is fixed by the terms."""

    setting: HelbaSharedSetting

    def operations(self) -> dict[str, int]:
        """Exact counts, as the parties count them."""
        setting = self.setting
        gates = setting.terms.budget * setting.circuit.ands
        return {
            "garbled_and_gates": gates,
            "evaluated_and_gates": gates,
            "product_words": setting.words,
            "base_transfers": 2 * TRANSFERS,
        }

    def round_bytes(self, *, starts: bool) -> Mapping[str, int]:
        """A round's bytes: ahead of its contexts, with its update, and while an arm is chosen."""
        setting = self.setting
        schedule, scores = setting.schedule, setting.score_products(1)
        batch = schedule.batch(0)
        garbled = schedule.column_bytes(batch) + sum(decoding_bytes(schedule, batch).values())
        ahead = setting.circuit.table_bytes + garbled // batch.length
        ahead += column_total(scores)
        update = self._numbers(setting.sums)
        if starts:
            estimate = setting.estimate_products(1)
            ahead += estimate.column_bytes
            update += estimate.word_bytes + self._answer_bytes
        return {
            "ahead": ahead,
            "update": update,
            "up": word_total(scores) + setting.share_bytes,
            "down": schedule.label_bytes,
        }

    def run_bytes(self) -> int:
        """All rounds together; of a last batch that is not full a little less is sent."""
        setting = self.setting
        every = sum(self.round_bytes(starts=True).values())
        other = sum(self.round_bytes(starts=False).values())
        return setting.batches * every + (setting.terms.budget - setting.batches) * other

    def round_trips(self, *, starts: bool) -> int:
        """How often the user waits for the server in a round: for its labels, and an estimate."""
        return 2 if starts else 1

    def run_round_trips(self) -> int:
        """All rounds together, after the set-up; what is made ahead arrives with what is waited
        for."""
        batches, budget = self.setting.batches, self.setting.terms.budget
        every, other = self.round_trips(starts=True), self.round_trips(starts=False)
        return batches * every + (budget - batches) * other

    @property
    def _answer_bytes(self) -> int:
        d = self.setting.terms.d
        return self._numbers(d * (d + 1) + 1)

    def _numbers(self, count: int) -> int:
        return WORD_BYTES * count * self.setting.modulus.count

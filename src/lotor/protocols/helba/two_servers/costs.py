"""What a run with two servers takes: operations and bytes, before it begins."""

from collections.abc import Mapping
from dataclasses import dataclass

from lotor.protocols.garbled.showing import table_bytes
from lotor.protocols.helba.shared.costs import HelbaSharedCosts
from lotor.protocols.helba.shared.setting import column_total, word_total
from lotor.protocols.helba.two_servers.setting import HelbaTwoServersSetting


@dataclass(frozen=True, slots=True)
class HelbaTwoServersCosts(HelbaSharedCosts):
    """Content of messages, without their frames; all of it is fixed by the terms."""

    setting: HelbaTwoServersSetting

    def round_bytes(self, *, starts: bool) -> Mapping[str, int]:
        """A round's bytes: ahead of its contexts, with its update, and while an arm is chosen.

        Up is from the user to the server and on to the pad server, and down is back.
        """
        setting = self.setting
        schedule, scores = setting.schedule, setting.score_products(1)
        batch = schedule.batch(0)
        ahead = setting.circuit.table_bytes + schedule.column_bytes(batch) // batch.length
        ahead += column_total(scores)
        update = self._numbers(setting.sums)
        if starts:
            estimate, *model = setting.renewal_products(1)
            ahead += column_total([estimate, *model]) + estimate.word_bytes
            update += self._answer_bytes + word_total(model)
        outputs = table_bytes(setting.terms.arms)
        shown = sum(outputs.values()) - outputs["tags"] // 2
        return {
            "ahead": ahead,
            "update": update,
            "up": sum(setting.context_sizes) + word_total(scores) + setting.share_bytes,
            "down": schedule.label_bytes + sum(outputs.values()) + shown,
        }

    def round_trips(self, *, starts: bool) -> int:
        """One of the user, and those between the servers: for labels, and for an estimate."""
        return 3 if starts else 2

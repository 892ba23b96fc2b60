"""What the server computes in a round and for a new estimate, and what the paper's run took."""

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # they load CKKS
    from lotor.protocols.helba.paper.counts import Counts
    from lotor.protocols.helba.paper.setting import HelbaSetting


PAPER: Final = {"seconds": 74_340, "rounds": 130, "levels": 100, "ring_degree": 1 << 16}
"""The paper's whole run, d = 2 and two arms (Section 6); its modulus is too large for 128 bits."""


def per_round(setting: "HelbaSetting") -> "Counts":
    """A choice: the score of all pairs, their comparison, the product over each arm's pairs."""
    return setting.circuit.per_round()


def per_update(setting: "HelbaSetting", start: int | None = None) -> "Counts":
    """A new estimate before round `start`, or before the last: X from V, and h = X g."""
    return setting.circuit.per_update(setting.terms.budget if start is None else start)


def per_switch(setting: "HelbaSetting") -> "Counts":
    """Asking whether a batch ends, where a policy does."""
    return setting.circuit.per_switch()


def whole_run(setting: "HelbaSetting") -> dict[str, int]:
    """What must be counted in a run by the public schedule alone, by operation."""
    totals: Counter[str] = Counter()
    counted = [per_round(setting) for _ in range(setting.terms.budget)]
    counted += [per_update(setting, start) for start in setting.bounds.starts()]
    for counts in counted:
        for (operation, _), count in counts.items():
            totals[operation] += count
    return dict(totals)

"""Made-up outcomes: of 100 patients of an owner, about so many get well."""

import hashlib
from pathlib import Path

from lotor import Decision

CHANCES = {"lyon": 30, "porto": 50, "graz": 70}
CHANCE = CHANCES[Path(__file__).parent.name]


def pull(decision: Decision) -> float:
    """1 or 0, and the same whenever the same decision is asked for."""
    lot = int.from_bytes(hashlib.sha256(decision.id.encode()).digest()[:8])
    return float(lot % 100 < CHANCE)

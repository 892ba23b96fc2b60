"""What tests of outcomes that come late have in common."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

import lotor
from helpers import drive_plain
from lotor.environments import Environment
from lotor.runtime.daemon.serving import open_kit


def paid(decision: lotor.Decision | lotor.OpenDecision) -> float:
    """A reward that depends on the decision alone."""
    assert decision.arm is not None
    return (decision.arm * 7919 + decision.round * 104729) % 1000 / 1000


def arrivals(kits: Iterable[Path], run: str) -> dict[int, int]:
    """Before which round each outcome was counted, as the owners' journals have it."""
    found: dict[int, int] = {}
    for kit in kits:
        with open_kit(kit) as at, closing(at.journal):
            rows = at.journal.database.execute(
                "SELECT round, counted FROM decisions WHERE run = ? AND round > 0", (run,)
            )
            found.update(rows.fetchall())
    return found


def plain_with(
    arrived: Mapping[int, int],
    environment: Environment,
    *,
    policy: str,
    budget: int,
    seed: int,
    batch: int,
) -> tuple[list[int], object]:
    """The arms and the total of plain with these arrivals."""
    samba = lotor.Samba.configured(policy, {"outstanding": budget, "batch": batch})
    assert sorted(arrived) == list(range(1, budget + 1))
    return drive_plain(
        samba.plain(),
        environment,
        budget=budget,
        seed=seed,
        delay=lambda t: arrived[t] - t - 1,
    )

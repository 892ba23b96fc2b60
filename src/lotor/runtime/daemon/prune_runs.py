"""Removes runs that are over from a party's journal, for its operator: by id, or by their age.

If a process serves the party, it does so; its journal then asks it to. Otherwise it is done here.
"""

import time
from collections.abc import Sequence

import msgspec

from lotor.core.durations import to_seconds
from lotor.core.errors import InputError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.durable.journal import RUNNING, WAITING, Journal, RunRow

ERASURE_ATTEMPTS = 10
LOOK_SECONDS = 0.2


class PrunedRun(msgspec.Struct, frozen=True):
    """A run that is removed; `since` are seconds since 1970."""

    run: str
    state: str
    since: float


class KeptRun(msgspec.Struct, frozen=True):
    """A run that is old enough, and cannot be removed yet."""

    run: str
    why: str


class PruningReport(msgspec.Struct, frozen=True):
    """Which runs are removed, or would be, and which are kept although they are old enough."""

    pruned: tuple[PrunedRun, ...]
    kept: tuple[KeptRun, ...] = ()


def prunable(journal: Journal, runs: Sequence[str], older_than: str | None) -> PruningReport:
    """The runs of these ids, or those that have been over for so long."""
    if bool(runs) == (older_than is not None):
        raise InputError(
            "say which runs to prune, by their ids, or how long they must have been over "
            "(older_than, such as 90d): one of the two"
        )
    if older_than is not None:
        return _old(journal, to_seconds("older_than", older_than))
    named = {row.id: row for row in map(journal.run, runs)}
    for run in named:
        if (why := journal.pruning.obstacle(run)) is not None:
            raise InputError(f"run {run} cannot be pruned, since it {why}; nothing was removed")
    return PruningReport(tuple(map(_pruned, named.values())))


def _old(journal: Journal, seconds: float) -> PruningReport:
    before = time.time() - seconds
    pruned, kept = [], []
    for row in journal.runs():
        if row.state in (WAITING, RUNNING) or row.changed > before:
            continue
        if (why := journal.pruning.obstacle(row.id)) is None:
            pruned.append(_pruned(row))
        else:
            kept.append(KeptRun(row.id, why))
    return PruningReport(tuple(pruned), tuple(kept))


def _pruned(row: RunRow) -> PrunedRun:
    return PrunedRun(row.id, row.state, row.changed)


def prune(at: OpenKit, report: PruningReport) -> None:
    """Remove these runs, or ask the process that serves the party to."""
    journal, runs = at.journal, [one.run for one in report.pruned]
    if not journal.lock():
        for run in runs:
            journal.commands.add(run, commands.to_bytes(commands.Prune()))
        return
    try:
        if runs:
            journal.pruning.prune(runs)
        for run in runs:
            journal.stores.of(run).remove()
        _erase(journal)
    finally:
        journal.unlock()


def _erase(journal: Journal) -> None:
    """Whatever reads the journal may take a moment; if it takes longer, a daemon does it."""
    for _ in range(ERASURE_ATTEMPTS):
        if journal.erasure.complete():
            return
        time.sleep(LOOK_SECONDS)

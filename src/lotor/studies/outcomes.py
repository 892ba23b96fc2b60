"""Runs one cell of a study."""

from lotor.core.result import Result
from lotor.protocols.cell import AnyCell, Outcome, RunCell
from lotor.runtime.run import run


def outcome_of(cell: AnyCell) -> Outcome:
    """Run or measure a cell, in this process."""
    if not isinstance(cell, RunCell):
        return Outcome(labels=dict(cell.labels), figures=dict(cell.task.measure()))
    result = run(cell.protocol, cell.environment, budget=cell.budget, seed=cell.seed)
    at = sorted({t for t in (*cell.at, result.rounds) if 0 < t <= result.rounds})
    places = [t - 1 for t in at]
    known = result.regrets is not None
    return Outcome(
        labels=dict(cell.labels),
        figures=_figures(result),
        at=at,
        rewards=[] if result.rewards is None else result.cumulative()[places].tolist(),
        regrets=result.regret()[places].tolist() if known else [],
    )


def _figures(result: Result) -> dict[str, float]:
    found = {
        "reward": result.reward,
        "rounds": result.rounds,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "bytes_sent": result.bytes_sent,
    }
    if result.regrets is not None:
        found["regret"] = float(sum(result.regrets))
    for name, cost in result.parties.items():
        found[f"cpu of {name}"] = cost.cpu_seconds
        found[f"bytes of {name}"] = cost.bytes_sent
    for name, count in result.operations.items():
        found[f"operations {name}"] = count
    return found
